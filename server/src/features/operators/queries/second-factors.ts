import { Type, type Static } from 'typebox';

import {
  Bytes,
  defineCommand,
  defineStatement,
  execute,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

const setSecretStatement = defineCommand(
  'operator_totp_set',
  `update operators set totp_sealed = $2, totp_enabled_at = null, totp_last_step = null, version = version + 1
   where id = $1`,
);

/** Stores a secret of one-time codes that is not enabled yet; null removes it. */
export async function setTotpSecret(
  db: Queryable,
  id: string,
  sealed: Buffer | null,
): Promise<void> {
  await execute(db, setSecretStatement, [id, sealed]);
}

const enableStatement = defineCommand(
  'operator_totp_enable',
  `update operators set totp_enabled_at = $2, totp_last_step = $3, version = version + 1
   where id = $1`,
);

/** Enables one-time codes. @param step the time step of the code that confirmed the secret */
export async function enableTotp(
  db: Queryable,
  id: string,
  now: Date,
  step: number,
): Promise<void> {
  await execute(db, enableStatement, [id, now, step]);
}

const useStepStatement = defineCommand(
  'operator_totp_use',
  `update operators set totp_last_step = $2
   where id = $1 and (totp_last_step is null or totp_last_step < $2)`,
);

/** Marks the code of a time step as used; returns false if it or a later one was used before. */
export async function markTotpStepUsed(db: Queryable, id: string, step: number): Promise<boolean> {
  return (await execute(db, useStepStatement, [id, step])) === 1;
}

const SealedRow = Type.Object({ id: Type.String(), totpSealed: Bytes });

const lockSealedStatement = defineStatement(
  'operator_totp_lock',
  SealedRow,
  'select id, totp_sealed from operators where totp_sealed is not null order by id for update',
);

/** Locks the operators with a secret of one-time codes. */
export async function lockTotpSecrets(
  db: Queryable,
): Promise<Readonly<Static<typeof SealedRow>>[]> {
  return queryRows(db, lockSealedStatement);
}

const resealStatement = defineCommand(
  'operator_totp_reseal',
  'update operators set totp_sealed = $2 where id = $1',
);

/** Stores the same secret of one-time codes, sealed anew. */
export async function replaceTotpSeal(db: Queryable, id: string, sealed: Buffer): Promise<void> {
  await execute(db, resealStatement, [id, sealed]);
}
