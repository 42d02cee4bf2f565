/** Statements about the stored mails of all kinds, as one list. */
import { Type, type Static } from 'typebox';

import { condition, defineList, queryPage, type Condition } from '#server/db/list.ts';
import { toByteaArray } from '#server/db/hot-statement.ts';
import {
  defineStatement,
  Nullable,
  queryRows,
  Timestamp,
  type Queryable,
} from '#server/db/statement.ts';

const StoredMail = Type.Object({
  id: Type.String(),
  kind: Type.Enum(['key', 'owner', 'confirmation', 'outreach']),
  state: Type.Enum(['queued', 'held', 'sending', 'sent', 'unconfirmed', 'failed']),
  reason: Nullable.Text,
  recipient: Nullable.Text,
  template: Type.String(),
  language: Nullable.Text,
  createdAt: Timestamp,
  sentAt: Nullable.Timestamp,
  messageId: Nullable.Text,
  provider: Nullable.Text,
  transactionId: Nullable.Text,
});

/** A stored mail. `provider` and `transactionId` are null unless it is an e-mail with keys. */
export type StoredMail = Readonly<Static<typeof StoredMail>>;

const ON_HOLD = `('no_address', 'no_mail', 'look_up')`;

/**
 * The ids are those of the indexes, so that PostgreSQL merges the four tables in their order. It does that only for a union
 * without conditions: `is_mailed` must be one of the list. Each state that a confirmation can have is a column, so that an
 * index answers it.
 */
const SOURCE = `(
  select 'key'::text as kind, 'key:' || provider || ':' || transaction_id as id, created_at, true as is_mailed,
         state = 'waiting' and (reason is null or reason not in ${ON_HOLD}) as is_queued, state = 'sent' as is_sent,
         state = 'refused' and reason is distinct from 'unconfirmed' as is_failed, state as stored_state, reason,
         sent_at, message_id, provider, transaction_id, null::bytea as address_hash, null::text as email,
         'key'::text as template, null::text as language, null::uuid as subscriber_id, null::uuid as request_id,
         null::integer as position
  from key_emails
  union all
  select 'owner', 'owner:' || id, created_at, true,
         state = 'waiting', state = 'sent', state = 'failed', state, error,
         sent_at, message_id, null, null, null, email, template, language, null, null, null
  from owner_emails
  union all
  select 'confirmation', 'confirmation:' || id::text, subscribed_at, confirmed_at is null or confirmation_mailed_at is not null,
         confirmed_at is null and confirmation_mailed_at is null and confirmation_problem is null,
         confirmation_mailed_at is not null and confirmation_problem is null, confirmation_problem is not null, null,
         confirmation_problem, confirmation_mailed_at, null, null, null, address_hash, email, 'confirmation', language, id, null, null
  from subscribers
  union all
  select 'outreach', 'outreach:' || request_id::text || ':' || position::text, created_at, true,
         state = 'waiting', state = 'sent', state = 'failed', state, error,
         case when state = 'sent' then ended_at end, message_id, null, null, address_hash, null, template, language, null, request_id,
         position
  from outreach_messages
) as mail`;

const STATES = {
  queued: 'mail.is_queued',
  held: `mail.kind = 'key' and (mail.stored_state = 'withheld' or mail.stored_state = 'waiting' and mail.reason in ${ON_HOLD})`,
  sending: `mail.kind <> 'confirmation' and mail.stored_state = 'sending'`,
  sent: 'mail.is_sent',
  unconfirmed: `mail.kind = 'key' and mail.stored_state = 'refused' and mail.reason = 'unconfirmed'
    or mail.kind in ('outreach', 'owner') and mail.stored_state = 'unknown'`,
  failed: 'mail.is_failed',
} as const;

const STATE = `case ${Object.entries(STATES)
  .map(([state, sql]) => `when ${sql} then '${state}'`)
  .join(' ')} else 'queued' end`;

const COLUMNS = `mail.id, mail.kind, ${STATE} as state, mail.reason, mail.template, mail.language,
  coalesce(mail.email, case mail.kind
    when 'key' then (
      select license.customer_email from billing_licenses billed join licenses license on license.id = billed.license_id
      where billed.transaction_id = mail.transaction_id and billed.provider = mail.provider
        and license.customer_email is not null limit 1)
    when 'outreach' then (
      select recipient.email from outreach_recipients recipient
      where recipient.campaign_id = mail.request_id and recipient.position = mail.position) end) as recipient,
  mail.created_at as "createdAt", mail.sent_at as "sentAt", mail.message_id as "messageId", mail.provider,
  mail.transaction_id as "transactionId"`;

/** The stored mails of all kinds. */
export const mailList = defineList({
  name: 'mail_list',
  row: StoredMail,
  columns: COLUMNS,
  from: SOURCE,
  id: { sql: 'mail.id', type: 'text' },
  sorts: { created_at: { sql: 'mail.created_at', type: 'timestamptz' } },
});

/** The condition of the whole list: a subscriber has been mailed, or is going to be. */
export const isMailed = condition('mail.is_mailed');

export function isOfKind(kind: string): Condition {
  return condition('mail.kind = ?', kind);
}

/** The condition of a state. */
export function isInState(state: keyof typeof STATES): Condition {
  return condition(STATES[state]);
}

/**
 * The condition of a transaction, or of the mails to an address.
 * @param addressHashes of the address; empty if the text is none
 */
export function matchesSearch(search: string, addressHashes: readonly string[]): Condition {
  const text = search.trim();
  return condition(
    `mail.kind = 'key' and mail.transaction_id = any (array(
       select ?::text
       union all select billed.transaction_id from licenses license
       join billing_licenses billed on billed.license_id = license.id where lower(license.customer_email) = lower(?::text)
     )) or mail.kind = 'owner' and lower(mail.email) = lower(?::text)
     or mail.kind in ('confirmation', 'outreach') and mail.address_hash = any (?::bytea[])`,
    text,
    text,
    text,
    toByteaArray(addressHashes),
  );
}

/** Identifies a stored mail. */
export type MailKey =
  | { readonly kind: 'key'; readonly provider: string; readonly transactionId: string }
  | { readonly kind: 'owner'; readonly id: string }
  | { readonly kind: 'confirmation'; readonly subscriberId: string }
  | { readonly kind: 'outreach'; readonly requestId: string; readonly id: string };

/** Returns a mail, or null. */
export async function findMail(db: Queryable, key: MailKey): Promise<StoredMail | null> {
  const request = { sort: 'created_at', descending: true, after: null, limit: 1 };
  const { rows } = await queryPage(db, mailList, request, [isMailed, isMail(key)]);
  return rows[0] ?? null;
}

/** Names the kind as a literal, so that PostgreSQL reads only its table. */
function isMail(key: MailKey): Condition {
  switch (key.kind) {
    case 'key':
      return condition(
        `mail.kind = 'key' and mail.transaction_id = ? and mail.provider = ?`,
        key.transactionId,
        key.provider,
      );
    case 'owner':
      return condition(`mail.kind = 'owner' and mail.id = ?`, key.id);
    case 'confirmation':
      return condition(
        `mail.kind = 'confirmation' and mail.subscriber_id = ?::uuid`,
        key.subscriberId,
      );
    case 'outreach':
      return condition(
        `mail.kind = 'outreach' and mail.request_id = ?::uuid and mail.id = ?`,
        key.requestId,
        key.id,
      );
  }
}

const MailedLicense = Type.Object({
  licenseId: Type.String(),
  product: Type.String(),
  keyHint: Type.String(),
  sent: Type.Boolean(),
});

const listLicensesStatement = defineStatement(
  'mail_list_licenses',
  MailedLicense,
  `select license.id as "licenseId", license.product_id as product, license.key_hint as "keyHint",
          coalesce(license.id = any (email.license_ids), false) as sent
   from (select distinct license_id from billing_licenses where transaction_id = $1 and provider = $2) as billed
   join licenses license on license.id = billed.license_id
   left join key_emails email on email.transaction_id = $1 and email.provider = $2
   order by license.id limit 100`,
);

/** Lists the licenses of a transaction, and whether their keys were sent. */
export async function listMailedLicenses(
  db: Queryable,
  transactionId: string,
  provider: string,
): Promise<Readonly<Static<typeof MailedLicense>>[]> {
  return queryRows(db, listLicensesStatement, [transactionId, provider]);
}
