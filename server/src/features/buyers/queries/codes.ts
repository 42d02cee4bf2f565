import { LANGUAGES } from '@latchkey/contract';
import { Type, type Static } from 'typebox';

import {
  Bytes,
  Timestamp,
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  type Queryable,
} from '#server/db/statement.ts';

const Language = Type.Enum(LANGUAGES);

const CodeRow = Type.Object({
  emailSealed: Bytes,
  language: Language,
  requestedAt: Timestamp,
  expiresAt: Timestamp,
});

/** A code that a buyer asked for. */
export type BuyerCode = Readonly<Static<typeof CodeRow>>;

const insertStatement = defineCommand(
  'buyer_code_insert',
  `insert into buyer_codes (token_hash, address_hash, email_sealed, language, requested_at, expires_at)
   values (decode($1, 'hex'), decode($2, 'hex'), $3, $4, $5, $6)`,
);

/**
 * Stores a code before it is mailed.
 * @param tokenHash in hexadecimal digits
 */
export async function insertCode(
  db: Queryable,
  { tokenHash, addressHash }: { readonly tokenHash: string; readonly addressHash: string },
  { emailSealed, language, requestedAt, expiresAt }: BuyerCode,
): Promise<void> {
  const values = [tokenHash, addressHash, emailSealed, language, requestedAt, expiresAt];
  await execute(db, insertStatement, values);
}

const findEarlierStatement = defineStatement(
  'buyer_code_find_earlier',
  Type.Object({ requestedAt: Timestamp }),
  `select requested_at from buyer_codes
   where address_hash = decode($1, 'hex') and requested_at > $2
   order by requested_at desc
   offset $3 - 1 limit 1`,
);

/** Returns when the n-th newest code of an address since a time was requested; null when there were fewer. */
export async function findEarlierRequest(
  db: Queryable,
  addressHash: string,
  since: Date,
  n: number,
): Promise<Date | null> {
  const row = await queryRow(db, findEarlierStatement, [addressHash, since, n]);
  return row?.requestedAt ?? null;
}

const findStatement = defineStatement(
  'buyer_code_find',
  CodeRow,
  `select email_sealed, language, requested_at, expires_at from buyer_codes
   where token_hash = decode($1, 'hex') and used_at is null and expires_at > $2`,
);

/** Finds a code that can still be used. */
export async function findCode(
  db: Queryable,
  tokenHash: string,
  now: Date,
): Promise<BuyerCode | null> {
  return queryRow(db, findStatement, [tokenHash, now]);
}

const takeTryStatement = defineStatement(
  'buyer_code_take_try',
  Type.Object({ emailSealed: Bytes, tries: Type.Integer() }),
  `update buyer_codes set tries = tries + 1
   where token_hash = decode($1, 'hex') and used_at is null and expires_at > $2 and tries < $3
   returning email_sealed, tries`,
);

/**
 * Counts a try of a code, and locks the code until the transaction ends; null when it is used, expired, unknown, or was
 * tried as often as allowed.
 */
export async function takeTry(
  db: Queryable,
  tokenHash: string,
  now: Date,
  maxTries: number,
): Promise<{ readonly emailSealed: Buffer; readonly tries: number } | null> {
  return queryRow(db, takeTryStatement, [tokenHash, now, maxTries]);
}

const useStatement = defineCommand(
  'buyer_code_use',
  `update buyer_codes set used_at = $2 where token_hash = decode($1, 'hex')`,
);

/** Records that a code was entered, so that it cannot be used again. */
export async function useCode(db: Queryable, tokenHash: string, now: Date): Promise<void> {
  await execute(db, useStatement, [tokenHash, now]);
}

const deleteStatement = defineCommand(
  'buyer_code_delete_of_address',
  `delete from buyer_codes where address_hash = decode($1, 'hex')`,
);

/** Deletes the codes of an address. */
export async function deleteCodes(db: Queryable, addressHash: string): Promise<void> {
  await execute(db, deleteStatement, [addressHash]);
}

const forgetStatement = defineCommand(
  'buyer_code_forget_address',
  `update buyer_codes set email_sealed = '' where token_hash in (
     select token_hash from buyer_codes where expires_at < $1 and email_sealed <> '' order by expires_at limit $2
   )`,
);

/** Removes the addresses of codes that expired before a time; returns of how many. */
export async function forgetAddresses(db: Queryable, before: Date, limit: number): Promise<number> {
  return execute(db, forgetStatement, [before, limit]);
}

const deleteExpiredStatement = defineCommand(
  'buyer_code_delete_expired',
  `delete from buyer_codes where token_hash in (
     select token_hash from buyer_codes where expires_at < $1 order by expires_at limit $2
   )`,
);

/** Deletes codes that expired before a time; returns how many. */
export async function deleteExpiredCodes(
  db: Queryable,
  before: Date,
  limit: number,
): Promise<number> {
  return execute(db, deleteExpiredStatement, [before, limit]);
}
