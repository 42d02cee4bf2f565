import { Type } from 'typebox';

import { defineStatement, queryRow, queryRows, type Queryable } from '#server/db/statement.ts';

import type { TransactionKey } from '../billing/queries/purchases.ts';
import type { WaitReason } from './queries.ts';

const KeyRow = Type.Object({ transactionId: Type.String(), provider: Type.String() });

const KEY = 'transaction_id as "transactionId", provider';

const releaseStatement = defineStatement(
  'key_email_release_waiting',
  KeyRow,
  `update key_emails set reason = null
   where (transaction_id, provider) in (
     select transaction_id, provider from key_emails
     where state = 'waiting' and reason = $1
     order by created_at, transaction_id, provider
     limit $2
   )
   returning ${KEY}`,
);

/** Clears the reason of e-mails that wait for it, oldest first, at most `limit`, and returns their keys. */
export async function releaseKeyEmails(
  db: Queryable,
  reason: WaitReason,
  limit: number,
): Promise<TransactionKey[]> {
  return queryRows(db, releaseStatement, [reason, limit]);
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
      or email.claimed_at - $2::timestamptz > $2::timestamptz - $3::timestamptz
   returning ${KEY}`,
);

/**
 * Resets the e-mail of a transaction in any state, so that all its keys are sent again. Returns its keys; none if the
 * transaction has no licenses or the e-mail is being sent.
 * @param transactionId the provider's id of the transaction, or an alias
 * @param abandonedBefore claims older than this have timed out, and those as far ahead: the clock was set back
 */
export async function resetKeyEmail(
  db: Queryable,
  transactionId: string,
  { now, abandonedBefore }: { readonly now: Date; readonly abandonedBefore: Date },
): Promise<TransactionKey[]> {
  return queryRows(db, resetStatement, [transactionId, now, abandonedBefore]);
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
   returning ${KEY}`,
);

/** Resets e-mails that the relay refused or did not confirm, at most `limit`, and returns their keys. */
export async function resetRefusedKeyEmails(
  db: Queryable,
  which: 'refused' | 'unconfirmed',
  now: Date,
  limit: number,
): Promise<TransactionKey[]> {
  return queryRows(db, resetRefusedStatement, [which === 'unconfirmed', now, limit]);
}

const listUnsentStatement = defineStatement(
  'key_email_list_unsent_of_license',
  KeyRow,
  `select billed.transaction_id as "transactionId", billed.provider
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
  return queryRows(db, listUnsentStatement, [licenseId]);
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
