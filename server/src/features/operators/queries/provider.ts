import type { OperatorRole } from '@latchkey/contract';
import { Type, type Static } from 'typebox';

import {
  columnsOf,
  defineCommand,
  defineStatement,
  execute,
  Nullable,
  queryRow,
  type Queryable,
} from '#server/db/statement.ts';

import { OperatorRow } from './operators.ts';

const ProviderRow = Type.Object({ ...OperatorRow.properties, providerSubject: Nullable.Text });

const lockStatement = defineStatement(
  'operator_lock_for_provider',
  ProviderRow,
  `select ${columnsOf(ProviderRow)} from operators
   where provider_subject = $1 or lower(email) = lower($2)
   order by provider_subject = $1 desc nulls last limit 1 for update`,
);

/** Locks the operator of a person of the provider, or else the one with the verified e-mail address. */
export async function lockOperatorForProvider(
  db: Queryable,
  subject: string,
  email: string | null,
): Promise<Readonly<Static<typeof ProviderRow>> | null> {
  return queryRow(db, lockStatement, [subject, email]);
}

const setStatement = defineCommand(
  'operator_set_provider',
  `update operators set provider_subject = $2, role = $3, version = version + 1
   where id = $1 and (provider_subject is distinct from $2 or role <> $3)`,
);

/** Stores the person of the provider and the role that it assigns. */
export async function setProviderFacts(
  db: Queryable,
  id: string,
  subject: string,
  role: OperatorRole,
): Promise<void> {
  await execute(db, setStatement, [id, subject, role]);
}
