import { Type } from 'typebox';

import {
  Bytes,
  defineCommand,
  defineStatement,
  execute,
  Nullable,
  queryRow,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

/** Names the e-mail of a transaction. */
export interface KeyEmailName {
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
  { transactionId, provider }: KeyEmailName,
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
  { transactionId, provider }: KeyEmailName,
  state: 'waiting' | 'withheld',
  reason: WaitReason | 'no_license',
): Promise<void> {
  await execute(db, holdStatement, [transactionId, provider, state, reason]);
}

/** What is to be sent, and when a claim counts as that of a killed process. */
export interface KeyEmailClaim {
  readonly licenseIds: readonly string[];
  readonly addressHash: string;
  readonly now: Date;
  readonly abandonedBefore: Date;
}

const claimStatement = defineStatement(
  'key_email_claim',
  Type.Object({ license_ids: Type.Array(Type.String()) }),
  `update key_emails set state = 'sending', claimed_at = $5, address_hash = $4
   where transaction_id = $1 and provider = $2
     and (state in ('waiting', 'withheld')
          or state = 'sending' and claimed_at < $6
          or state = 'refused' and address_hash is distinct from $4
          or state = 'sent' and not license_ids @> $3::uuid[])
   returning license_ids`,
);

/**
 * Takes the e-mail for sending, which only one process gets to do; gives the licenses whose keys were sent before. Null
 * when there is nothing to send, or another is at it.
 */
export async function claimKeyEmail(
  db: Queryable,
  { transactionId, provider }: KeyEmailName,
  { licenseIds, addressHash, now, abandonedBefore }: KeyEmailClaim,
): Promise<readonly string[] | null> {
  const row = await queryRow(db, claimStatement, [
    transactionId,
    provider,
    licenseIds,
    addressHash,
    now,
    abandonedBefore,
  ]);
  return row?.license_ids ?? null;
}

const findStateStatement = defineStatement(
  'key_email_find_state',
  Type.Object({ state: Type.String() }),
  'select state from key_emails where transaction_id = $1 and provider = $2',
);

/** Whether another process has claimed the e-mail and not said yet what became of it. */
export async function isKeyEmailUnderWay(
  db: Queryable,
  { transactionId, provider }: KeyEmailName,
): Promise<boolean> {
  const row = await queryRow(db, findStateStatement, [transactionId, provider]);
  return row?.state === 'sending';
}

const recordSentStatement = defineCommand(
  'key_email_record_sent',
  `update key_emails
   set state = 'sent', reason = null, license_ids = license_ids || $3::uuid[], message_id = $4, sent_at = $5
   where transaction_id = $1 and provider = $2`,
);

/** Notes that the e-mail was taken by the relay. */
export async function recordKeyEmailSent(
  db: Queryable,
  { transactionId, provider }: KeyEmailName,
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

/** Notes that the e-mail was not taken: to be tried again, or for good. */
export async function recordKeyEmailFailure(
  db: Queryable,
  { transactionId, provider }: KeyEmailName,
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
  { transactionId, provider }: KeyEmailName,
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
  `with told as (
     select customer_id, fact, occurred_at from billing_payments
     where transaction_id = $1 and provider = $2
     union all
     select customer_id, fact, occurred_at from billing_subscriptions
     where transaction_id = $1 and provider = $2
   )
   select locale from (
     select known.locale, 1 as rank, known.occurred_at
     from told join billing_customers known on known.customer_id = told.customer_id and known.provider = $2
     union all
     select fact -> 'customer' ->> 'locale', 2, occurred_at from told
   ) as heard
   where locale is not null
   order by rank, occurred_at desc
   limit 1`,
);

/** The language of whoever bought, where the provider has told of one. */
export async function findBuyerLocale(
  db: Queryable,
  { transactionId, provider }: KeyEmailName,
): Promise<string | null> {
  return (await queryRow(db, findLocaleStatement, [transactionId, provider]))?.locale ?? null;
}

const listWaitingStatement = defineStatement(
  'key_email_list_waiting',
  Type.Object({ transaction_id: Type.String(), provider: Type.String() }),
  `select transaction_id, provider from key_emails
   where state = 'waiting' and reason = $1
   order by created_at, transaction_id, provider
   limit $2`,
);

/** E-mails that wait for this reason, the oldest first. */
export async function listWaitingKeyEmails(
  db: Queryable,
  reason: WaitReason,
  limit: number,
): Promise<KeyEmailName[]> {
  const rows = await queryRows(db, listWaitingStatement, [reason, limit]);
  return rows.map((row) => ({ transactionId: row.transaction_id, provider: row.provider }));
}

const releaseStatement = defineCommand(
  'key_email_release_waiting',
  `update key_emails set reason = null
   from unnest($1::text[], $2::text[]) as named (transaction_id, provider)
   where key_emails.transaction_id = named.transaction_id and key_emails.provider = named.provider
     and state = 'waiting'`,
);

/** Notes that nothing keeps e-mails any more. */
export async function releaseKeyEmails(
  db: Queryable,
  names: readonly KeyEmailName[],
): Promise<void> {
  await execute(db, releaseStatement, [
    names.map(({ transactionId }) => transactionId),
    names.map(({ provider }) => provider),
  ]);
}

const countStatement = defineStatement(
  'key_email_count_unsent',
  Type.Object({
    no_address: Type.Number(),
    no_mail: Type.Number(),
    refused: Type.Number(),
  }),
  `select count(*) filter (where state = 'waiting' and reason = 'no_address') as no_address,
          count(*) filter (where state = 'waiting' and reason = 'no_mail') as no_mail,
          count(*) filter (where state = 'refused') as refused
   from key_emails where state <> 'sent'`,
);

/** How many e-mails were not sent, and why. */
export interface UnsentKeyEmails {
  /** No address of the buyer is known. */
  readonly noAddress: number;
  /** No mail was configured. */
  readonly noMail: number;
  /** The relay refused them for good. */
  readonly refused: number;
}

/** Counts the e-mails that wait for somebody to do something. */
export async function countUnsentKeyEmails(db: Queryable): Promise<UnsentKeyEmails> {
  const row = await queryRow(db, countStatement);
  return {
    noAddress: row?.no_address ?? 0,
    noMail: row?.no_mail ?? 0,
    refused: row?.refused ?? 0,
  };
}
