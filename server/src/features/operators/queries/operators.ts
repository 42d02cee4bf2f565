import { OPERATOR_ROLES, type OperatorRole } from '@latchkey/contract';
import { Type, type Static } from 'typebox';

import {
  Bytes,
  Nullable,
  Timestamp,
  columnsOf,
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

export const OperatorRow = Type.Object({
  id: Type.String(),
  email: Type.String(),
  name: Type.String(),
  role: Type.Enum(OPERATOR_ROLES),
  passwordHash: Nullable.Text,
  totpSealed: Type.Union([Bytes, Type.Null()]),
  totpEnabledAt: Nullable.Timestamp,
  createdAt: Timestamp,
  lastSignInAt: Nullable.Timestamp,
  disabledAt: Nullable.Timestamp,
  /** Increases with each change of an administrator or of a credential. */
  version: Type.Integer(),
});

/** A stored operator. */
export type OperatorRecord = Readonly<Static<typeof OperatorRow>>;

const COLUMNS = columnsOf(OperatorRow);

const findByEmailStatement = defineStatement(
  'operator_find_by_email',
  OperatorRow,
  `select ${COLUMNS} from operators where lower(email) = lower($1)`,
);

/** Finds the operator with an e-mail address, in upper or lower case. */
export async function findOperatorByEmail(
  db: Queryable,
  email: string,
): Promise<OperatorRecord | null> {
  return queryRow(db, findByEmailStatement, [email]);
}

const findStatement = defineStatement(
  'operator_find',
  OperatorRow,
  `select ${COLUMNS} from operators where id = $1`,
);

/** Finds an operator by its id. */
export async function findOperator(db: Queryable, id: string): Promise<OperatorRecord | null> {
  return queryRow(db, findStatement, [id]);
}

/** Names an operator by its id, or by its e-mail address in upper or lower case. */
export type OperatorReference = { readonly id: string } | { readonly email: string };

/** In the order of their ids, so that concurrent changes cannot wait for each other. */
const lockWithAdminsStatement = defineStatement(
  'operator_lock_with_admins',
  Type.Object({ ...OperatorRow.properties, isMeant: Type.Boolean() }),
  `select ${COLUMNS}, (id = $1 or lower(email) = lower($2)) is true as is_meant from operators
   where id = $1 or lower(email) = lower($2) or (role = 'admin' and disabled_at is null)
   order by id for update`,
);

/** Locks an operator, and all enabled administrators, until the transaction ends. */
export async function lockOperatorAndAdmins(
  db: Queryable,
  reference: OperatorReference,
): Promise<{
  readonly operator: OperatorRecord | null;
  readonly admins: readonly OperatorRecord[];
}> {
  const parameters = 'id' in reference ? [reference.id, null] : [null, reference.email];
  const rows = await queryRows(db, lockWithAdminsStatement, parameters);
  return {
    operator: rows.find(({ isMeant }) => isMeant) ?? null,
    admins: rows.filter(({ role, disabledAt }) => role === 'admin' && disabledAt === null),
  };
}

const lockStatement = defineStatement(
  'operator_lock',
  OperatorRow,
  `select ${COLUMNS} from operators where id = $1 for update`,
);

/** Locks an operator until the transaction ends. */
export async function lockOperator(db: Queryable, id: string): Promise<OperatorRecord | null> {
  return queryRow(db, lockStatement, [id]);
}

const ListedRow = Type.Object({ ...OperatorRow.properties, passkeys: Type.Integer() });

/** An operator with the number of its passkeys. */
export type ListedOperator = Readonly<Static<typeof ListedRow>>;

const listStatement = defineStatement(
  'operator_list',
  ListedRow,
  `select ${COLUMNS}, (select count(*) from operator_passkeys where operator_id = operators.id) as passkeys
   from operators order by lower(email) limit $1`,
);

/** Lists operators by e-mail address. */
export async function listOperatorRecords(db: Queryable, limit: number): Promise<ListedOperator[]> {
  return queryRows(db, listStatement, [limit]);
}

const lockAllStatement = defineCommand(
  'operator_lock_all',
  'lock table operators in share row exclusive mode',
);

/** Prevents that another transaction adds or changes an operator, until this one ends. */
export async function lockAllOperators(db: Queryable): Promise<void> {
  await execute(db, lockAllStatement, []);
}

const isAnyStatement = defineStatement(
  'operator_is_any',
  Type.Object({ found: Type.Boolean() }),
  'select exists (select from operators) as found',
);

/** Returns whether there is an operator. */
export async function isAnyOperator(db: Queryable): Promise<boolean> {
  return (await queryRow(db, isAnyStatement))?.found ?? false;
}

/** An operator to create. */
export interface NewOperator {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: OperatorRole;
  readonly createdAt: Date;
}

const insertStatement = defineCommand(
  'operator_insert',
  `insert into operators (id, email, name, role, created_at) values ($1, $2, $3, $4, $5)
   on conflict do nothing`,
);

/** Stores an operator; returns false when there is one with its e-mail address. */
export async function insertOperator(db: Queryable, operator: NewOperator): Promise<boolean> {
  const { id, email, name, role, createdAt } = operator;
  return (await execute(db, insertStatement, [id, email, name, role, createdAt])) === 1;
}

const setDisabledStatement = defineCommand(
  'operator_set_disabled',
  'update operators set disabled_at = $2, version = version + 1 where id = $1',
);

/** Disables an operator, or enables it by null. */
export async function setOperatorDisabled(
  db: Queryable,
  id: string,
  disabledAt: Date | null,
): Promise<void> {
  await execute(db, setDisabledStatement, [id, disabledAt]);
}

const setRoleStatement = defineCommand(
  'operator_set_role',
  'update operators set role = $2, version = version + 1 where id = $1',
);

/** Stores the role of an operator. */
export async function setOperatorRole(
  db: Queryable,
  id: string,
  role: OperatorRole,
): Promise<void> {
  await execute(db, setRoleStatement, [id, role]);
}

const clearStatement = defineCommand(
  'operator_clear_credentials',
  `update operators
   set password_hash = null, totp_sealed = null, totp_enabled_at = null, provider_subject = null,
       last_sign_in_at = null, version = version + 1
   where id = $1`,
);

/** Removes password, one-time codes and the person of the provider from an operator, which is invited again. */
export async function clearCredentials(db: Queryable, id: string): Promise<void> {
  await execute(db, clearStatement, [id]);
}

const setPasswordStatement = defineCommand(
  'operator_set_password',
  'update operators set password_hash = $2, version = version + 1 where id = $1',
);

/** Stores the password hash of an operator. */
export async function setPasswordHash(
  db: Queryable,
  id: string,
  passwordHash: string,
): Promise<void> {
  await execute(db, setPasswordStatement, [id, passwordHash]);
}

const upgradePasswordStatement = defineCommand(
  'operator_upgrade_password',
  'update operators set password_hash = $2 where id = $1',
);

/** Stores another hash of the same password: no change that an operator would see. */
export async function upgradePasswordHash(
  db: Queryable,
  id: string,
  passwordHash: string,
): Promise<void> {
  await execute(db, upgradePasswordStatement, [id, passwordHash]);
}

const setNameStatement = defineCommand(
  'operator_set_name',
  'update operators set name = $2, version = version + 1 where id = $1',
);

/** Stores the name of an operator. */
export async function setOperatorName(db: Queryable, id: string, name: string): Promise<void> {
  await execute(db, setNameStatement, [id, name]);
}

const recordSignInStatement = defineCommand(
  'operator_record_sign_in',
  'update operators set last_sign_in_at = $2 where id = $1',
);

/** Records that an operator signed in. */
export async function recordSignIn(db: Queryable, id: string, now: Date): Promise<void> {
  await execute(db, recordSignInStatement, [id, now]);
}
