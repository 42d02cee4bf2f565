import { CAMPAIGN_STATES, LANGUAGES } from '@latchkey/contract';
import { Type, type Static } from 'typebox';

import { condition, defineList, type Condition } from '#server/db/list.ts';
import {
  columnsOf,
  defineCommand,
  defineStatement,
  execute,
  Nullable,
  queryRow,
  queryRows,
  Timestamp,
  type Queryable,
} from '#server/db/statement.ts';

import { CampaignTexts, StoredAudience } from '../rules/campaign-content.ts';

const CampaignRow = Type.Object({
  id: Type.String(),
  name: Type.String(),
  texts: CampaignTexts,
  defaultLanguage: Type.Enum(LANGUAGES),
  audience: StoredAudience,
  state: Type.Enum(CAMPAIGN_STATES),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  updatedBy: Type.String(),
  startedAt: Nullable.Timestamp,
  startedBy: Nullable.Text,
  endedAt: Nullable.Timestamp,
  total: Type.Integer(),
  sent: Type.Integer(),
  failed: Type.Integer(),
  suppressed: Type.Integer(),
  unknown: Type.Integer(),
  duplicates: Type.Integer(),
  invalid: Type.Integer(),
  problem: Nullable.Text,
  problemSince: Nullable.Timestamp,
  nextAttemptAt: Nullable.Timestamp,
  version: Type.Integer(),
});

/** A campaign and the numbers of its messages. */
export type CampaignRecord = Readonly<Static<typeof CampaignRow>>;

const COLUMNS = columnsOf(CampaignRow);

/** Campaigns. They are few: a search reads all of them. */
export const campaignList = defineList({
  name: 'campaign_list',
  row: CampaignRow,
  columns: COLUMNS,
  from: 'outreach_campaigns',
  id: { sql: 'id', type: 'uuid' },
  sorts: { created_at: { sql: 'created_at', type: 'timestamptz' } },
});

export function isInState(state: CampaignRecord['state']): Condition {
  return condition('state = ?', state);
}

/** The condition of a name with a word that begins with a text, in any case. */
export function hasNameWith(text: string): Condition {
  return condition("position(' ' || lower(?) in ' ' || lower(name)) > 0", text);
}

const findStatement = defineStatement(
  'campaign_find',
  CampaignRow,
  `select ${COLUMNS} from outreach_campaigns where id = $1::uuid`,
);

export async function findCampaign(db: Queryable, id: string): Promise<CampaignRecord | null> {
  return queryRow(db, findStatement, [id]);
}

const lockStatement = defineStatement(
  'campaign_lock',
  CampaignRow,
  `select ${COLUMNS} from outreach_campaigns where id = $1::uuid for update`,
);

/** Locks a campaign until the transaction ends. */
export async function lockCampaign(db: Queryable, id: string): Promise<CampaignRecord | null> {
  return queryRow(db, lockStatement, [id]);
}

/** What an operator writes. */
export type CampaignContent = Pick<
  CampaignRecord,
  'name' | 'texts' | 'defaultLanguage' | 'audience'
>;

/** Who changes a campaign, and when. */
export interface CampaignEditor {
  readonly actor: string;
  readonly now: Date;
}

const insertStatement = defineCommand(
  'campaign_insert',
  `insert into outreach_campaigns
     (id, name, texts, default_language, audience, created_at, updated_at, updated_by)
   values ($1::uuid, $2, $3, $4, $5, $6, $6, $7)`,
);

export async function insertCampaign(
  db: Queryable,
  id: string,
  { name, texts, defaultLanguage, audience }: CampaignContent,
  { actor, now }: CampaignEditor,
): Promise<void> {
  const json = [JSON.stringify(texts), defaultLanguage, JSON.stringify(audience)];
  await execute(db, insertStatement, [id, name, ...json, now, actor]);
}

const updateStatement = defineCommand(
  'campaign_update',
  `update outreach_campaigns
   set name = $2, texts = $3, default_language = $4, audience = $5, updated_at = $6, updated_by = $7
   where id = $1::uuid`,
);

export async function updateCampaign(
  db: Queryable,
  id: string,
  { name, texts, defaultLanguage, audience }: CampaignContent,
  { actor, now }: CampaignEditor,
): Promise<void> {
  const json = [JSON.stringify(texts), defaultLanguage, JSON.stringify(audience)];
  await execute(db, updateStatement, [id, name, ...json, now, actor]);
}

const deleteStatement = defineCommand(
  'campaign_delete',
  'delete from outreach_campaigns where id = $1::uuid',
);

export async function deleteCampaign(db: Queryable, id: string): Promise<void> {
  await execute(db, deleteStatement, [id]);
}

/** The numbers of recipients at the start. */
export type StartCounts = Pick<CampaignRecord, 'total' | 'suppressed' | 'duplicates' | 'invalid'>;

const startStatement = defineCommand(
  'campaign_start',
  `update outreach_campaigns
   set state = 'sending', started_at = $2, started_by = $3, total = $4, suppressed = $5, duplicates = $6,
       invalid = $7
   where id = $1::uuid`,
);

export async function startCampaignRow(
  db: Queryable,
  id: string,
  { total, suppressed, duplicates, invalid }: StartCounts,
  { actor, now }: CampaignEditor,
): Promise<void> {
  const counts = [total, suppressed, duplicates, invalid];
  await execute(db, startStatement, [id, now, actor, ...counts]);
}

const setStateStatement = defineCommand(
  'campaign_set_state',
  `update outreach_campaigns
   set state = $2, ended_at = $3, problem = null, problem_since = null, next_attempt_at = null
   where id = $1::uuid`,
);

/** @param endedAt null: it can go on */
export async function setCampaignState(
  db: Queryable,
  id: string,
  state: CampaignRecord['state'],
  endedAt: Date | null,
): Promise<void> {
  await execute(db, setStateStatement, [id, state, endedAt]);
}

const ClaimedRow = Type.Object({ id: Type.String(), leaseId: Type.String() });

/** A campaign that this process sends until its lease expires. */
export type ClaimedCampaign = Readonly<Static<typeof ClaimedRow>>;

const claimStatement = defineStatement(
  'campaign_claim',
  ClaimedRow,
  `update outreach_campaigns set lease_id = $2::uuid, leased_until = $3
   where id = (
     select id from outreach_campaigns
     where state = 'sending' and (leased_until is null or leased_until < $1)
       and (next_attempt_at is null or next_attempt_at <= $1)
     order by started_at limit 1 for update skip locked
   )
   returning id, lease_id`,
);

/** Claims the oldest campaign that is due and that no other process sends. */
export async function claimCampaign(
  db: Queryable,
  leaseId: string,
  now: Date,
  leasedUntil: Date,
): Promise<ClaimedCampaign | null> {
  return queryRow(db, claimStatement, [now, leaseId, leasedUntil]);
}

const renewStatement = defineStatement(
  'campaign_renew_lease',
  Type.Object({ state: Type.Enum(CAMPAIGN_STATES) }),
  `update outreach_campaigns set leased_until = $3
   where id = $1::uuid and lease_id = $2::uuid
   returning state`,
);

/** Renews a lease, and returns the state of the campaign; null after another process claimed it. */
export async function renewCampaignLease(
  db: Queryable,
  { id, leaseId }: ClaimedCampaign,
  leasedUntil: Date,
): Promise<CampaignRecord['state'] | null> {
  return (await queryRow(db, renewStatement, [id, leaseId, leasedUntil]))?.state ?? null;
}

/** What a process leaves behind when it stops sending a campaign. */
export interface CampaignRelease {
  readonly problem: string | null;
  readonly problemSince: Date | null;
  readonly nextAttemptAt: Date | null;
}

const releaseStatement = defineCommand(
  'campaign_release',
  `update outreach_campaigns
   set lease_id = null, leased_until = null, problem = $3, problem_since = $4, next_attempt_at = $5
   where id = $1::uuid and lease_id = $2::uuid`,
);

export async function releaseCampaign(
  db: Queryable,
  { id, leaseId }: ClaimedCampaign,
  { problem, problemSince, nextAttemptAt }: CampaignRelease,
): Promise<void> {
  await execute(db, releaseStatement, [id, leaseId, problem, problemSince, nextAttemptAt]);
}

const pauseStatement = defineCommand(
  'campaign_pause_after_failure',
  `update outreach_campaigns set state = 'paused' where id = $1::uuid and state = 'sending'`,
);

/** Pauses a campaign whose relay fails; its problem remains. */
export async function pauseAfterFailure(db: Queryable, id: string): Promise<void> {
  await execute(db, pauseStatement, [id]);
}

const recountStatement = defineStatement(
  'campaign_recount',
  Type.Object({ waiting: Type.Integer() }),
  `with counted as (
     select count(*) filter (where state = 'sent')::int as sent,
            count(*) filter (where state = 'failed' and (error is null or error not in ('suppressed', 'canceled')))::int as failed,
            count(*) filter (where state = 'failed' and error = 'suppressed')::int as suppressed,
            count(*) filter (where state = 'unknown')::int as unknown,
            count(*) filter (where state in ('waiting', 'sending'))::int as waiting
     from outreach_messages where request_id = $1::uuid
   )
   update outreach_campaigns
   set sent = counted.sent, failed = counted.failed, suppressed = counted.suppressed, unknown = counted.unknown
   from counted where id = $1::uuid
   returning waiting`,
);

/** Counts the messages of a campaign again; returns how many have no outcome. */
export async function recountCampaign(db: Queryable, id: string): Promise<number> {
  return (await queryRow(db, recountStatement, [id]))?.waiting ?? 0;
}

/** Messages that got an outcome. */
export type OutcomeCounts = Pick<CampaignRecord, 'sent' | 'failed' | 'suppressed' | 'unknown'>;

const addStatement = defineCommand(
  'campaign_add_outcomes',
  `update outreach_campaigns
   set sent = sent + $2, failed = failed + $3, suppressed = suppressed + $4, unknown = unknown + $5
   where id = $1::uuid`,
);

export async function addOutcomes(
  db: Queryable,
  id: string,
  { sent, failed, suppressed, unknown }: OutcomeCounts,
): Promise<void> {
  await execute(db, addStatement, [id, sent, failed, suppressed, unknown]);
}

const listExpiredStatement = defineStatement(
  'campaign_list_expired',
  Type.Object({ id: Type.String() }),
  `select id from outreach_campaigns
   where state in ('sending', 'paused') and started_at < $1 order by started_at limit 100`,
);

/** Lists campaigns that were started before a time and did not end. */
export async function listExpiredCampaigns(db: Queryable, before: Date): Promise<string[]> {
  return (await queryRows(db, listExpiredStatement, [before])).map(({ id }) => id);
}
