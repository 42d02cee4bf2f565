import { Type, type Static } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  Nullable,
  queryRow,
  Timestamp,
  type Queryable,
} from '#server/db/statement.ts';

import type { TransactionKey } from '../billing/queries/purchases.ts';

/** Why an e-mail waits; `look_up`: until its customer was looked up. */
export type WaitReason = 'no_address' | 'no_mail' | 'look_up';

/** The reason of an e-mail that the relay received twice without confirming it. */
export const UNCONFIRMED = 'unconfirmed';

const insertStatement = defineCommand(
  'key_email_insert',
  `insert into key_emails (transaction_id, provider, state, created_at) values ($1, $2, 'waiting', $3)
   on conflict (transaction_id, provider) do nothing`,
);

/** Inserts a waiting e-mail, unless the transaction has one. */
export async function insertKeyEmail(
  db: Queryable,
  { transactionId, provider }: TransactionKey,
  now: Date,
): Promise<void> {
  await execute(db, insertStatement, [transactionId, provider, now]);
}

const holdStatement = defineCommand(
  'key_email_hold',
  `update key_emails set state = $3, reason = $4
   where transaction_id = $1 and provider = $2 and state in ('waiting', 'withheld')`,
);

/** Records why an e-mail is not sent, unless it is being sent or was sent. */
export async function holdKeyEmail(
  db: Queryable,
  { transactionId, provider }: TransactionKey,
  state: 'waiting' | 'withheld',
  reason: WaitReason | 'no_license',
): Promise<void> {
  await execute(db, holdStatement, [transactionId, provider, state, reason]);
}

interface KeyEmailClaim {
  readonly licenseIds: readonly string[];
  readonly addressHash: string;
  readonly now: Date;
  /** Claims older than this have timed out, and those as far ahead: the clock was set back. */
  readonly abandonedBefore: Date;
}

const ClaimedKeyEmail = Type.Object({
  /** The licenses whose keys were sent before. */
  sentBefore: Type.Array(Type.String()),
  /** Whether the relay received the e-mail for this address before and did not confirm it. */
  isUnconfirmed: Type.Boolean(),
  /** When the e-mail was created or last reset. */
  createdAt: Timestamp,
});

const claimStatement = defineStatement(
  'key_email_claim',
  ClaimedKeyEmail,
  `update key_emails
   set state = 'sending', claimed_at = $5, address_hash = $4,
       reason = case when state = 'refused' then null else reason end,
       unconfirmed_at = case when address_hash = $4 then unconfirmed_at end
   where transaction_id = $1 and provider = $2
     and (state in ('waiting', 'withheld')
          or state = 'sending' and (claimed_at < $6 or claimed_at - $5::timestamptz > $5::timestamptz - $6::timestamptz)
          or state = 'refused' and address_hash is distinct from $4
          or state = 'sent' and not license_ids @> $3::uuid[])
   returning license_ids as "sentBefore", unconfirmed_at is not null as "isUnconfirmed", created_at as "createdAt"`,
);

/** Claims an e-mail for sending by this process. Returns null if there is nothing to send or another process sends it. */
export async function claimKeyEmail(
  db: Queryable,
  { transactionId, provider }: TransactionKey,
  { licenseIds, addressHash, now, abandonedBefore }: KeyEmailClaim,
): Promise<Static<typeof ClaimedKeyEmail> | null> {
  const parameters = [transactionId, provider, licenseIds, addressHash, now, abandonedBefore];
  return queryRow(db, claimStatement, parameters);
}

const KeyEmailRecord = Type.Object({
  state: Type.String(),
  addressHash: Nullable.Text,
  /** When the relay received it without confirming it. */
  unconfirmedAt: Nullable.Timestamp,
});

const findStatement = defineStatement(
  'key_email_find',
  KeyEmailRecord,
  `select state, address_hash as "addressHash", unconfirmed_at as "unconfirmedAt"
   from key_emails where transaction_id = $1 and provider = $2`,
);

/** Returns the e-mail of a transaction, or null. */
export async function findKeyEmail(
  db: Queryable,
  { transactionId, provider }: TransactionKey,
): Promise<Static<typeof KeyEmailRecord> | null> {
  return queryRow(db, findStatement, [transactionId, provider]);
}

const recordSentStatement = defineCommand(
  'key_email_record_sent',
  `update key_emails
   set state = 'sent', reason = null, unconfirmed_at = null,
       license_ids = license_ids || $3::uuid[], message_id = $4, sent_at = $5
   where transaction_id = $1 and provider = $2`,
);

/** Records that the relay accepted the e-mail. */
export async function recordKeyEmailSent(
  db: Queryable,
  { transactionId, provider }: TransactionKey,
  sent: {
    readonly licenseIds: readonly string[];
    readonly messageId: string;
    readonly sentAt: Date;
  },
): Promise<void> {
  const { licenseIds, messageId, sentAt } = sent;
  await execute(db, recordSentStatement, [transactionId, provider, licenseIds, messageId, sentAt]);
}

const recordFailureStatement = defineCommand(
  'key_email_record_failure',
  `update key_emails set state = $3, reason = $4, unconfirmed_at = coalesce($5, unconfirmed_at)
   where transaction_id = $1 and provider = $2 and state = 'sending'`,
);

/**
 * Records that the relay did not accept the e-mail: temporarily or permanently.
 * @param unconfirmedAt when the relay received it without confirming it; null leaves the stored time unchanged
 */
export async function recordKeyEmailFailure(
  db: Queryable,
  { transactionId, provider }: TransactionKey,
  state: 'waiting' | 'refused',
  reason: string,
  unconfirmedAt: Date | null = null,
): Promise<void> {
  const parameters = [transactionId, provider, state, reason, unconfirmedAt];
  await execute(db, recordFailureStatement, parameters);
}

const updateAddressHashStatement = defineCommand(
  'key_email_update_address_hash',
  `update key_emails set address_hash = $4
   where transaction_id = $1 and provider = $2 and address_hash = $3`,
);

/** Replaces the hash of an address under a previous master secret. */
export async function updateAddressHash(
  db: Queryable,
  { transactionId, provider }: TransactionKey,
  from: string,
  to: string,
): Promise<void> {
  await execute(db, updateAddressHashStatement, [transactionId, provider, from, to]);
}
