import { Type } from 'typebox';

import { defineStatement, queryRows, type Queryable } from '#server/db/statement.ts';

import type { TransactionKey } from './queries.ts';

const Name = Type.Object({ transaction_id: Type.String(), provider: Type.String() });

const resetStatement = defineStatement(
  'key_email_reset',
  Name,
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
 * Has the e-mail of a transaction begin anew, with all its keys, whatever became of it; gives its names. None when the
 * transaction has no licenses, or the e-mail is under way.
 * @param transactionId the provider's id, or another one of the same payment
 * @param abandonedBefore one that was claimed before this is not under way any more
 */
export async function resetKeyEmail(
  db: Queryable,
  transactionId: string,
  { now, abandonedBefore }: { readonly now: Date; readonly abandonedBefore: Date },
): Promise<TransactionKey[]> {
  const rows = await queryRows(db, resetStatement, [transactionId, now, abandonedBefore]);
  return rows.map(toName);
}

const resetRefusedStatement = defineStatement(
  'key_email_reset_refused',
  Name,
  `update key_emails set state = 'waiting', reason = null, unconfirmed_at = null, created_at = $2
   where (transaction_id, provider) in (
     select transaction_id, provider from key_emails
     where state = 'refused' and (reason is not distinct from 'unconfirmed') = $1
     order by created_at, transaction_id, provider
     limit $3
   )
   returning transaction_id, provider`,
);

/** Has e-mails begin anew that a relay refused, or of which it did not say whether it took them; at most `limit`. */
export async function resetRefusedKeyEmails(
  db: Queryable,
  which: 'refused' | 'unconfirmed',
  now: Date,
  limit: number,
): Promise<TransactionKey[]> {
  const rows = await queryRows(db, resetRefusedStatement, [which === 'unconfirmed', now, limit]);
  return rows.map(toName);
}

const listUnsentStatement = defineStatement(
  'key_email_list_unsent_of_license',
  Name,
  `select made.transaction_id, made.provider
   from billing_licenses made
   left join key_emails email on email.transaction_id = made.transaction_id and email.provider = made.provider
   where made.license_id = $1
     and email.state is distinct from 'refused'
     and not coalesce(email.license_ids, '{}') @> array[made.license_id]`,
);

/** The e-mails by which the key of a license was to be sent and was not; those that were refused are not among them. */
export async function listUnsentKeyEmailsOfLicense(
  db: Queryable,
  licenseId: string,
): Promise<TransactionKey[]> {
  return (await queryRows(db, listUnsentStatement, [licenseId])).map(toName);
}

function toName(row: { transaction_id: string; provider: string }): TransactionKey {
  return { transactionId: row.transaction_id, provider: row.provider };
}
