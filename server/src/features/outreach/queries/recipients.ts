import { LANGUAGES } from '@latchkey/contract';
import { Type, type Static } from 'typebox';

import { condition, defineList, type Condition } from '#server/db/list.ts';
import { toByteaArray, toPlainArray } from '#server/db/hot-statement.ts';
import {
  defineCommand,
  defineStatement,
  execute,
  Nullable,
  queryRow,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

/** A recipient of a campaign, and its message. */
export interface NewRecipient {
  readonly position: number;
  readonly addressHash: string;
  readonly email: string;
  readonly name: string | null;
  readonly language: string;
  readonly messageId: string;
  /** Why the message is not sent, or null. */
  readonly error: string | null;
}

const insertStatement = defineCommand(
  'campaign_insert_recipients',
  `with recipient as (
     select * from unnest($4::integer[], $5::bytea[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[])
       as recipient (position, address_hash, email, name, language, message_id, error)
   ), stored as (
     insert into outreach_recipients (campaign_id, position, address_hash, email, name, created_at)
     select $1::uuid, position, address_hash, email, name, $3 from recipient
   )
   insert into outreach_messages
     (request_id, position, template, language, address_hash, message_id, state, error, created_at, ended_at)
   select $1::uuid, position, $2, language, address_hash, message_id,
          case when error is null then 'waiting' else 'failed' end, error, $3,
          case when error is null then null else $3::timestamptz end
   from recipient`,
);

/**
 * Stores recipients of a campaign with their messages.
 * @param name of the campaign, shown where messages to an address are listed
 */
export async function insertRecipients(
  db: Queryable,
  campaign: { readonly id: string; readonly name: string; readonly now: Date },
  recipients: readonly NewRecipient[],
): Promise<void> {
  await execute(db, insertStatement, [
    campaign.id,
    campaign.name,
    campaign.now,
    toPlainArray(recipients.map(({ position }) => position)),
    toByteaArray(recipients.map(({ addressHash }) => addressHash)),
    recipients.map(({ email }) => email),
    recipients.map(({ name }) => name),
    recipients.map(({ language }) => language),
    recipients.map(({ messageId }) => messageId),
    recipients.map(({ error }) => error),
  ]);
}

const DueRow = Type.Object({
  position: Type.Integer(),
  messageId: Type.String(),
  language: Type.Enum(LANGUAGES),
  email: Nullable.Text,
  name: Nullable.Text,
  attempts: Type.Union([Type.Integer(), Type.Null()]),
});

/** A message to send; without an address after it was erased. */
export type DueMessage = Readonly<Static<typeof DueRow>>;

const listDueStatement = defineStatement(
  'campaign_list_due',
  DueRow,
  `select m.position, m.message_id, m.language, r.email, r.name, r.attempts
   from outreach_messages m
   left join outreach_recipients r on r.campaign_id = m.request_id and r.position = m.position
   where m.request_id = $1::uuid and m.state = 'waiting' and (r.retry_at is null or r.retry_at <= $2)
   order by m.position limit $3`,
);

export async function listDueMessages(
  db: Queryable,
  campaignId: string,
  now: Date,
  limit: number,
): Promise<DueMessage[]> {
  return queryRows(db, listDueStatement, [campaignId, now, limit]);
}

const nextStatement = defineStatement(
  'campaign_find_next_retry',
  Type.Object({ at: Nullable.Timestamp }),
  `select min(r.retry_at) as at
   from outreach_messages m
   join outreach_recipients r on r.campaign_id = m.request_id and r.position = m.position
   where m.request_id = $1::uuid and m.state = 'waiting'`,
);

/** Returns when the next deferred message is due; null: there is none. */
export async function findNextRetry(db: Queryable, campaignId: string): Promise<Date | null> {
  return (await queryRow(db, nextStatement, [campaignId]))?.at ?? null;
}

const postponeStatement = defineCommand(
  'campaign_postpone_messages',
  `with returned as (
     update outreach_messages set state = 'waiting'
     where request_id = $1::uuid and position = any ($2::integer[]) and state = 'sending'
     returning position
   )
   update outreach_recipients set attempts = attempts + $4::boolean::integer, retry_at = $3
   where campaign_id = $1::uuid and position in (select position from returned)`,
);

/**
 * Returns messages that were certainly not sent to the queue.
 * @param retry.isAttempt whether it counts against the limit of attempts
 * @param retry.retryAt null: at once
 */
export async function postponeMessages(
  db: Queryable,
  campaignId: string,
  positions: readonly number[],
  { isAttempt, retryAt }: { readonly isAttempt: boolean; readonly retryAt: Date | null },
): Promise<void> {
  if (positions.length === 0) return;
  await execute(db, postponeStatement, [campaignId, toPlainArray(positions), retryAt, isAttempt]);
}

const abandonStatement = defineCommand(
  'campaign_end_interrupted',
  `update outreach_messages set state = 'unknown', error = 'unknown', ended_at = $2
   where request_id = $1::uuid and state = 'sending'`,
);

/** Stores messages that a killed process had started as unknown, so that they are not sent again. */
export async function endInterruptedMessages(
  db: Queryable,
  campaignId: string,
  now: Date,
): Promise<void> {
  await execute(db, abandonStatement, [campaignId, now]);
}

const cancelStatement = defineCommand(
  'campaign_cancel_messages',
  `update outreach_messages set state = 'failed', error = 'canceled', ended_at = $2
   where request_id = $1::uuid and state = 'waiting'`,
);

/** Ends the messages of a campaign that were not started. */
export async function cancelMessages(db: Queryable, campaignId: string, now: Date): Promise<void> {
  await execute(db, cancelStatement, [campaignId, now]);
}

const deleteStatement = defineCommand(
  'campaign_delete_recipient',
  `delete from outreach_recipients where address_hash = decode($1, 'hex')`,
);

/** Deletes an address from all campaigns; their messages remain without it, and are not sent. */
export async function deleteRecipient(db: Queryable, addressHash: string): Promise<void> {
  await execute(db, deleteStatement, [addressHash]);
}

const deleteOldStatement = defineCommand(
  'campaign_delete_old_recipients',
  `delete from outreach_recipients where (campaign_id, position) in (
     select campaign_id, position from outreach_recipients where created_at < $1 limit $2)`,
);

/** Deletes recipients from before a time; returns how many. */
export function deleteOldRecipients(db: Queryable, before: Date, limit: number): Promise<number> {
  return execute(db, deleteOldStatement, [before, limit]);
}

/** After the start of the campaign, and so after the message. */
const IS_UNSUBSCRIBED = `m.state = 'sent' and p.suppressed_at > m.created_at`;

const MessageRow = Type.Object({
  position: Type.Integer(),
  email: Nullable.Text,
  name: Nullable.Text,
  language: Type.Enum(LANGUAGES),
  state: Type.Enum(['waiting', 'sending', 'sent', 'failed', 'unknown']),
  error: Nullable.Text,
  endedAt: Nullable.Timestamp,
  messageId: Type.String(),
  unsubscribed: Type.Boolean(),
});

/** A message of a campaign and its recipient. */
export type CampaignMessageRecord = Readonly<Static<typeof MessageRow>>;

/** Messages of campaigns. */
export const messageList = defineList({
  name: 'campaign_message_list',
  row: MessageRow,
  columns: `m.position, r.email, r.name, m.language, m.state, m.error, m.ended_at, m.message_id,
            coalesce(${IS_UNSUBSCRIBED}, false) as unsubscribed`,
  from: `outreach_messages m
         left join outreach_recipients r on r.campaign_id = m.request_id and r.position = m.position
         left join suppressions p on p.address_hash = m.address_hash`,
  id: { sql: 'm.position', type: 'integer' },
  sorts: { position: { sql: 'm.position', type: 'integer' } },
});

const RESULTS = {
  waiting: "m.state = 'waiting'",
  sending: "m.state = 'sending'",
  sent: "m.state = 'sent'",
  failed: "m.state = 'failed' and (m.error is null or m.error not in ('suppressed', 'canceled'))",
  suppressed: "m.state = 'failed' and m.error = 'suppressed'",
  canceled: "m.state = 'failed' and m.error = 'canceled'",
  unknown: "m.state = 'unknown'",
  unsubscribed: IS_UNSUBSCRIBED,
} as const;

export function isOfCampaign(campaignId: string): Condition {
  return condition('m.request_id = ?::uuid', campaignId);
}

export function hasResult(result: keyof typeof RESULTS): Condition {
  return condition(RESULTS[result]);
}

/** The condition of the hashes of an address. */
export function isToAny(addressHashes: readonly string[]): Condition {
  return condition('m.address_hash = any (?::bytea[])', toByteaArray(addressHashes));
}

const ReportRow = Type.Object({
  language: Type.Enum(LANGUAGES),
  state: Type.String(),
  error: Nullable.Text,
  count: Type.Integer(),
  unsubscribed: Type.Integer(),
});

const reportStatement = defineStatement(
  'campaign_report',
  ReportRow,
  `select m.language, m.state, split_part(m.error, ':', 1) as error, count(*)::int as count,
          count(*) filter (where ${IS_UNSUBSCRIBED})::int as unsubscribed
   from outreach_messages m left join suppressions p on p.address_hash = m.address_hash
   where m.request_id = $1::uuid
   group by 1, 2, 3 order by 4 desc`,
);

/** Counts the messages of a campaign by language, state and error. */
export async function countCampaignMessages(
  db: Queryable,
  campaignId: string,
): Promise<Readonly<Static<typeof ReportRow>>[]> {
  return queryRows(db, reportStatement, [campaignId]);
}
