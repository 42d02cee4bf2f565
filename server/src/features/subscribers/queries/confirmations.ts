import { Type } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  Nullable,
  queryRow,
  Timestamp,
  type Queryable,
} from '#server/db/statement.ts';

import type { ConfirmationFacts, ConfirmationMails } from '../facts.ts';

/** A confirmation link. */
export interface Confirmation extends ConfirmationFacts {
  readonly tokenHash: string;
  readonly addressHash: string;
}

/** A link that is about to be mailed. */
export interface AttemptedConfirmation extends Confirmation {
  readonly mailboxHash: string;
  readonly attemptedAt: Date;
}

const upsertStatement = defineCommand(
  'subscriber_confirmation_upsert',
  `insert into subscriber_confirmations (token_hash, address_hash, requested_at, expires_at, mailbox_hash, attempted_at)
   values (decode($1, 'hex'), decode($2, 'hex'), $3, $4, decode($5, 'hex'), $6)
   on conflict (token_hash) do update
   set expires_at = excluded.expires_at, mailbox_hash = excluded.mailbox_hash, attempted_at = excluded.attempted_at`,
);

/** Stores a link before it is mailed; a retry extends its expiry, and counts as the newest attempt. */
export async function upsertConfirmation(
  db: Queryable,
  link: AttemptedConfirmation,
): Promise<void> {
  const { tokenHash, addressHash, requestedAt, expiresAt, mailboxHash, attemptedAt } = link;
  const values = [tokenHash, addressHash, requestedAt, expiresAt, mailboxHash, attemptedAt];
  await execute(db, upsertStatement, values);
}

const findEarlierStatement = defineStatement(
  'subscriber_confirmation_find_earlier',
  Type.Object({ attemptedAt: Timestamp }),
  `select attempted_at from subscriber_confirmations
   where mailbox_hash in (select decode(hash, 'hex') from unnest($1::text[]) hash)
     and attempted_at > $2 and token_hash <> coalesce(decode($3, 'hex'), '')
   order by attempted_at desc
   offset $4 - 1 limit 1`,
);

/**
 * Returns when the n-th newest e-mail since a time was attempted for the mailbox of an address; null when there were fewer.
 * @param mailboxHashes of the mailbox, under all master secrets
 * @param exceptTokenHash a link that does not count; null: all count
 */
export async function findEarlierAttempt(
  db: Queryable,
  mailboxHashes: readonly string[],
  since: Date,
  exceptTokenHash: string | null,
  n: number,
): Promise<Date | null> {
  const values = [mailboxHashes, since, exceptTokenHash, n];
  return (await queryRow(db, findEarlierStatement, values))?.attemptedAt ?? null;
}

const findStatement = defineStatement(
  'subscriber_confirmation_find',
  Type.Object({
    tokenHash: Type.String(),
    addressHash: Type.String(),
    requestedAt: Timestamp,
    expiresAt: Timestamp,
  }),
  `select encode(token_hash, 'hex') as token_hash, encode(address_hash, 'hex') as address_hash,
          requested_at, expires_at
   from subscriber_confirmations where token_hash = decode($1, 'hex')`,
);

export async function findConfirmation(
  db: Queryable,
  tokenHash: string,
): Promise<Confirmation | null> {
  return queryRow(db, findStatement, [tokenHash]);
}

const recordStatement = defineCommand(
  'subscriber_confirmation_record_mail',
  `update subscriber_confirmations set mailed_at = $2 where token_hash = decode($1, 'hex')`,
);

export async function recordConfirmationMailed(
  db: Queryable,
  tokenHash: string,
  mailedAt: Date,
): Promise<void> {
  await execute(db, recordStatement, [tokenHash, mailedAt]);
}

const countStatement = defineStatement(
  'subscriber_confirmation_count',
  Type.Object({
    today: Type.Integer(),
    mailedAt: Nullable.Timestamp,
    requestedAt: Nullable.Timestamp,
  }),
  `select count(*) filter (where mailed_at > $2)::int as today, max(mailed_at) as mailed_at,
          (array_agg(requested_at order by mailed_at desc))[1] as requested_at
   from subscriber_confirmations
   where address_hash = decode($1, 'hex') and mailed_at is not null`,
);

/** @param dayAgo the start of the last 24 hours */
export async function countConfirmationMails(
  db: Queryable,
  addressHash: string,
  dayAgo: Date,
): Promise<ConfirmationMails> {
  const row = await queryRow(db, countStatement, [addressHash, dayAgo]);
  const { today = 0, mailedAt = null, requestedAt = null } = row ?? {};
  return {
    today,
    last: mailedAt === null || requestedAt === null ? null : { mailedAt, requestedAt },
  };
}

const deleteStatement = defineCommand(
  'subscriber_confirmation_delete',
  `delete from subscriber_confirmations where address_hash = decode($1, 'hex')`,
);

export async function deleteConfirmations(db: Queryable, addressHash: string): Promise<void> {
  await execute(db, deleteStatement, [addressHash]);
}

const deleteExpiredStatement = defineCommand(
  'subscriber_confirmation_delete_expired',
  `delete from subscriber_confirmations where token_hash in (
     select token_hash from subscriber_confirmations where expires_at < $1 order by expires_at limit $2
   )`,
);

/** Deletes links that expired before a time; returns how many. */
export async function deleteExpiredConfirmations(
  db: Queryable,
  before: Date,
  limit: number,
): Promise<number> {
  return execute(db, deleteExpiredStatement, [before, limit]);
}
