import { Type } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  Timestamp,
  type Queryable,
} from '#server/db/statement.ts';

import type { TransactionKey } from '../queries/purchases.ts';

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
  /** Claims older than this have timed out. */
  readonly abandonedBefore: Date;
}

const claimStatement = defineStatement(
  'key_email_claim',
  Type.Object({
    license_ids: Type.Array(Type.String()),
    is_unconfirmed: Type.Boolean(),
    created_at: Timestamp,
  }),
  `update key_emails
   set state = 'sending', claimed_at = $5, address_hash = $4,
       reason = case when state = 'refused' then null else reason end,
       unconfirmed_at = case when address_hash = $4 then unconfirmed_at end
   where transaction_id = $1 and provider = $2
     and (state in ('waiting', 'withheld')
          or state = 'sending' and claimed_at < $6
          or state = 'refused' and address_hash is distinct from $4
          or state = 'sent' and not license_ids @> $3::uuid[])
   returning license_ids, unconfirmed_at is not null as is_unconfirmed, created_at`,
);

interface ClaimedKeyEmail {
  /** The licenses whose keys were sent before. */
  readonly sentBefore: readonly string[];
  /** Whether the relay received the e-mail for this address before and did not confirm it. */
  readonly isUnconfirmed: boolean;
  /** When the e-mail was created or last reset. */
  readonly createdAt: Date;
}

/** Claims an e-mail for sending by this process. Returns null if there is nothing to send or another process sends it. */
export async function claimKeyEmail(
  db: Queryable,
  { transactionId, provider }: TransactionKey,
  { licenseIds, addressHash, now, abandonedBefore }: KeyEmailClaim,
): Promise<ClaimedKeyEmail | null> {
  const parameters = [transactionId, provider, licenseIds, addressHash, now, abandonedBefore];
  const row = await queryRow(db, claimStatement, parameters);
  if (row === null) return null;
  return {
    sentBefore: row.license_ids,
    isUnconfirmed: row.is_unconfirmed,
    createdAt: row.created_at,
  };
}

const findStateStatement = defineStatement(
  'key_email_find_state',
  Type.Object({ state: Type.String() }),
  'select state from key_emails where transaction_id = $1 and provider = $2',
);

/** Whether the e-mail is claimed. */
export async function isKeyEmailClaimed(
  db: Queryable,
  { transactionId, provider }: TransactionKey,
): Promise<boolean> {
  const row = await queryRow(db, findStateStatement, [transactionId, provider]);
  return row?.state === 'sending';
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
  `update key_emails set state = $3, reason = $4
   where transaction_id = $1 and provider = $2 and state = 'sending'`,
);

/** Records that the relay did not accept the e-mail: temporarily or permanently. Keeps `unconfirmed_at`. */
export async function recordKeyEmailFailure(
  db: Queryable,
  { transactionId, provider }: TransactionKey,
  state: 'waiting' | 'refused',
  reason: string,
): Promise<void> {
  await execute(db, recordFailureStatement, [transactionId, provider, state, reason]);
}

const recordUnconfirmedStatement = defineCommand(
  'key_email_record_unconfirmed',
  `update key_emails set state = 'waiting', reason = 'unconfirmed', unconfirmed_at = $3
   where transaction_id = $1 and provider = $2 and state = 'sending'`,
);

/** Records that the relay received the e-mail without confirming it, so that it is sent a second time. */
export async function recordKeyEmailUnconfirmed(
  db: Queryable,
  { transactionId, provider }: TransactionKey,
  now: Date,
): Promise<void> {
  await execute(db, recordUnconfirmedStatement, [transactionId, provider, now]);
}

const findUnconfirmedStatement = defineStatement(
  'key_email_find_unconfirmed',
  Type.Object({ unconfirmed_at: Timestamp }),
  `select unconfirmed_at from key_emails
   where transaction_id = $1 and provider = $2 and address_hash = $3
     and state in ('waiting', 'withheld') and unconfirmed_at is not null`,
);

/** Returns when the relay received a waiting e-mail to this address without confirming it, or null. */
export async function findUnconfirmedKeyEmail(
  db: Queryable,
  { transactionId, provider }: TransactionKey,
  addressHash: string,
): Promise<Date | null> {
  const parameters = [transactionId, provider, addressHash];
  return (await queryRow(db, findUnconfirmedStatement, parameters))?.unconfirmed_at ?? null;
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
