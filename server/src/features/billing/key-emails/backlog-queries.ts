import { Type, type Static } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  queryRows,
  type Queryable,
  toColumns,
} from '#server/db/statement.ts';

import type { TransactionKey } from '../queries/purchases.ts';
import type { WaitReason } from './queries.ts';

const KeyRow = Type.Object({ transaction_id: Type.String(), provider: Type.String() });

function toKey(row: Static<typeof KeyRow>): TransactionKey {
  return { transactionId: row.transaction_id, provider: row.provider };
}

const listWaitingStatement = defineStatement(
  'key_email_list_waiting',
  KeyRow,
  `select transaction_id, provider from key_emails
   where state = 'waiting' and reason = $1
   order by created_at, transaction_id, provider
   limit $2`,
);

/** Lists e-mails that wait for a reason, oldest first. */
export async function listWaitingKeyEmails(
  db: Queryable,
  reason: WaitReason,
  limit: number,
): Promise<TransactionKey[]> {
  return (await queryRows(db, listWaitingStatement, [reason, limit])).map(toKey);
}

const releaseStatement = defineCommand(
  'key_email_release_waiting',
  `update key_emails as email set reason = null
   from unnest($1::text[], $2::text[]) as input (transaction_id, provider)
   where email.transaction_id = input.transaction_id and email.provider = input.provider
     and state = 'waiting'`,
);

/** Clears the wait reason of e-mails. */
export async function releaseKeyEmails(
  db: Queryable,
  keys: readonly TransactionKey[],
): Promise<void> {
  await execute(db, releaseStatement, toColumns(keys, ['transactionId', 'provider']));
}

const resetStatement = defineStatement(
  'key_email_reset',
  KeyRow,
  `insert into key_emails as email (transaction_id, provider, state, created_at)
   select distinct transaction_id, provider, 'waiting', $2::timestamptz
   from billing_licenses
   where transaction_id = $1
      or (transaction_id, provider) in (select transaction_id, provider from billing_aliases where alias = $1)
   on conflict (transaction_id, provider) do update
   set state = 'waiting', reason = null, unconfirmed_at = null, license_ids = '{}', created_at = excluded.created_at
   where email.state <> 'sending' or email.claimed_at < $3
   returning transaction_id, provider`,
);

/**
 * Resets the e-mail of a transaction in any state, so that all its keys are sent again. Returns its keys; none if the
 * transaction has no licenses or the e-mail is being sent.
 * @param transactionId the provider's id of the transaction, or an alias
 * @param abandonedBefore claims older than this have timed out
 */
export async function resetKeyEmail(
  db: Queryable,
  transactionId: string,
  { now, abandonedBefore }: { readonly now: Date; readonly abandonedBefore: Date },
): Promise<TransactionKey[]> {
  return (await queryRows(db, resetStatement, [transactionId, now, abandonedBefore])).map(toKey);
}

const resetRefusedStatement = defineStatement(
  'key_email_reset_refused',
  KeyRow,
  `update key_emails set state = 'waiting', reason = null, unconfirmed_at = null, created_at = $2
   where (transaction_id, provider) in (
     select transaction_id, provider from key_emails
     where state = 'refused' and (reason is not distinct from 'unconfirmed') = $1
     order by created_at, transaction_id, provider
     limit $3
   )
   returning transaction_id, provider`,
);

/** Resets e-mails that the relay refused or did not confirm, at most `limit`, and returns their keys. */
export async function resetRefusedKeyEmails(
  db: Queryable,
  which: 'refused' | 'unconfirmed',
  now: Date,
  limit: number,
): Promise<TransactionKey[]> {
  const parameters = [which === 'unconfirmed', now, limit];
  return (await queryRows(db, resetRefusedStatement, parameters)).map(toKey);
}

const listUnsentStatement = defineStatement(
  'key_email_list_unsent_of_license',
  KeyRow,
  `select billed.transaction_id, billed.provider
   from billing_licenses billed
   left join key_emails email on email.transaction_id = billed.transaction_id and email.provider = billed.provider
   where billed.license_id = $1
     and email.state is distinct from 'refused'
     and not coalesce(email.license_ids, '{}') @> array[billed.license_id]`,
);

/** Lists the e-mails that have not sent the key of a license, except refused ones. */
export async function listUnsentKeyEmailsOfLicense(
  db: Queryable,
  licenseId: string,
): Promise<TransactionKey[]> {
  return (await queryRows(db, listUnsentStatement, [licenseId])).map(toKey);
}

const countUnsentStatement = defineStatement(
  'key_email_count_unsent',
  Type.Object({
    noAddress: Type.Number(),
    noMail: Type.Number(),
    refused: Type.Number(),
    unconfirmed: Type.Number(),
  }),
  `select count(*) filter (where state = 'waiting' and reason = 'no_address') as "noAddress",
          count(*) filter (where state = 'waiting' and reason = 'no_mail') as "noMail",
          count(*) filter (where state = 'refused' and reason is distinct from 'unconfirmed') as refused,
          count(*) filter (where state = 'refused' and reason = 'unconfirmed') as unconfirmed
   from key_emails where state <> 'sent'`,
);

/** The number of unsent e-mails by reason. */
export interface UnsentKeyEmails {
  /** No address of the buyer is known. */
  readonly noAddress: number;
  /** No mail relay was configured. */
  readonly noMail: number;
  /** The relay refused them permanently. */
  readonly refused: number;
  /** The relay received them twice without confirming them. */
  readonly unconfirmed: number;
}

/** Counts the e-mails that wait for an action of the operator. */
export async function countUnsentKeyEmails(db: Queryable): Promise<UnsentKeyEmails> {
  const none = { noAddress: 0, noMail: 0, refused: 0, unconfirmed: 0 };
  return (await queryRow(db, countUnsentStatement)) ?? none;
}

const countRefusedStatement = defineStatement(
  'key_email_count_refused',
  Type.Object({ refused: Type.Number() }),
  `select count(*) as refused
   from (select from key_emails where state = 'refused' and claimed_at >= $1 limit $2) counted`,
);

/** Counts the e-mails that were refused or not confirmed since a time, up to `limit`. */
export async function countRefusedKeyEmails(
  db: Queryable,
  since: Date,
  limit: number,
): Promise<number> {
  return (await queryRow(db, countRefusedStatement, [since, limit]))?.refused ?? 0;
}
