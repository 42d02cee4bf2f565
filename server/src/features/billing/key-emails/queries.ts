import { Type } from 'typebox';

import {
  Bytes,
  defineCommand,
  defineStatement,
  execute,
  Nullable,
  queryRow,
  queryRows,
  Timestamp,
  type Queryable,
} from '#server/db/statement.ts';

/** Names the e-mail of a transaction. */
export interface TransactionKey {
  readonly provider: string;
  readonly transactionId: string;
}

/** What keeps an e-mail from being sent for now; `look_up`: its customer is looked up first. */
export type WaitReason = 'no_address' | 'no_mail' | 'look_up';

const insertStatement = defineCommand(
  'key_email_insert',
  `insert into key_emails (transaction_id, provider, state, created_at) values ($1, $2, 'waiting', $3)
   on conflict (transaction_id, provider) do nothing`,
);

/** Notes that the e-mail is to be sent; one that is known stays as it is. */
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

/** Notes why an e-mail is not sent; one that is under way or was sent stays as it is. */
export async function holdKeyEmail(
  db: Queryable,
  { transactionId, provider }: TransactionKey,
  state: 'waiting' | 'withheld',
  reason: WaitReason | 'no_license',
): Promise<void> {
  await execute(db, holdStatement, [transactionId, provider, state, reason]);
}

/** What keeps a relay's silence about an e-mail that it has from being met with many copies. */
export const UNCONFIRMED = 'unconfirmed';

/** What is to be sent, and when a claim counts as that of a killed process. */
interface KeyEmailClaim {
  readonly licenseIds: readonly string[];
  readonly addressHash: string;
  readonly now: Date;
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

/** An e-mail that was claimed. */
interface ClaimedKeyEmail {
  /** Whose keys were sent before. */
  readonly sentBefore: readonly string[];
  /** Whether a relay got it before, for the same address, and never said whether it took it. */
  readonly isUnconfirmed: boolean;
  /** When it was first to be sent, or was begun anew. */
  readonly begunAt: Date;
}

/**
 * Takes the e-mail for sending, which only one process gets to do. Null when there is nothing to send, or another is at it.
 */
export async function claimKeyEmail(
  db: Queryable,
  { transactionId, provider }: TransactionKey,
  { licenseIds, addressHash, now, abandonedBefore }: KeyEmailClaim,
): Promise<ClaimedKeyEmail | null> {
  const row = await queryRow(db, claimStatement, [
    transactionId,
    provider,
    licenseIds,
    addressHash,
    now,
    abandonedBefore,
  ]);
  if (row === null) return null;
  return {
    sentBefore: row.license_ids,
    isUnconfirmed: row.is_unconfirmed,
    begunAt: row.created_at,
  };
}

const findStateStatement = defineStatement(
  'key_email_find_state',
  Type.Object({ state: Type.String() }),
  'select state from key_emails where transaction_id = $1 and provider = $2',
);

/** Whether another process has claimed the e-mail and not said yet what became of it. */
export async function isKeyEmailUnderWay(
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

/** Notes that the e-mail was taken by the relay. */
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

/**
 * Notes that the e-mail was not taken: to be tried again, or for good. That a relay once left it open is remembered
 * through tries that failed for certain.
 */
export async function recordKeyEmailFailure(
  db: Queryable,
  { transactionId, provider }: TransactionKey,
  state: 'waiting' | 'refused',
  reason: string,
): Promise<void> {
  await execute(db, recordFailureStatement, [transactionId, provider, state, reason]);
}

const listLicensesStatement = defineStatement(
  'key_email_list_licenses',
  Type.Object({
    id: Type.String(),
    product_id: Type.String(),
    max_activations: Type.Integer(),
    key_sealed: Bytes,
    customer_email: Nullable.Text,
    customer_name: Nullable.Text,
    good: Type.Boolean(),
  }),
  `select l.id, l.product_id, l.max_activations, l.key_sealed, l.customer_email, l.customer_name,
          coalesce(l.revoked_at, l.refunded_at, l.suspended_at, l.disputed_at, l.canceled_at) is null as good
   from billing_licenses made join licenses l on l.id = made.license_id
   where made.transaction_id = $1 and made.provider = $2
   order by made.line_key, l.id
   limit 500`,
);

/** A license that a transaction made. */
export interface BoughtLicense {
  readonly id: string;
  readonly productId: string;
  readonly maxActivations: number;
  readonly keySealed: Buffer;
  readonly customerEmail: string | null;
  readonly customerName: string | null;
  /** Whether its key is worth having: not refunded, revoked, canceled, suspended or in dispute. */
  readonly good: boolean;
}

/** The licenses that a transaction made. */
export async function listBoughtLicenses(
  db: Queryable,
  { transactionId, provider }: TransactionKey,
): Promise<BoughtLicense[]> {
  const rows = await queryRows(db, listLicensesStatement, [transactionId, provider]);
  return rows.map((row) => ({
    id: row.id,
    productId: row.product_id,
    maxActivations: row.max_activations,
    keySealed: row.key_sealed,
    customerEmail: row.customer_email,
    customerName: row.customer_name,
    good: row.good,
  }));
}

const findLocaleStatement = defineStatement(
  'key_email_find_locale',
  Type.Object({ locale: Type.String() }),
  `with facts as (
     select customer_id, fact, occurred_at, coalesce((fact->>'occurredNanos')::integer, 0) as occurred_nanos
     from billing_payments where transaction_id = $1 and provider = $2
     union all
     select customer_id, fact, occurred_at, coalesce((fact->>'occurredNanos')::integer, 0)
     from billing_subscriptions where transaction_id = $1 and provider = $2
   )
   select locale from (
     select known.locale, 1 as rank, known.occurred_at, known.occurred_nanos
     from facts join billing_customers known on known.customer_id = facts.customer_id and known.provider = $2
     union all
     select fact -> 'customer' ->> 'locale', 2, occurred_at, occurred_nanos from facts
   ) as candidates
   where locale is not null
   order by rank, occurred_at desc, occurred_nanos desc
   limit 1`,
);

/** The language of whoever bought, where the provider has told of one. */
export async function findBuyerLocale(
  db: Queryable,
  { transactionId, provider }: TransactionKey,
): Promise<string | null> {
  return (await queryRow(db, findLocaleStatement, [transactionId, provider]))?.locale ?? null;
}
