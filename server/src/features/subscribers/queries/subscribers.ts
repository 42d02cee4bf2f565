import { LANGUAGES, SUPPRESSION_REASONS } from '@latchkey/contract';
import { Type, type Static } from 'typebox';

import {
  columnsOf,
  defineCommand,
  defineStatement,
  execute,
  Nullable,
  queryRow,
  Timestamp,
  type Queryable,
  queryRows,
} from '#server/db/statement.ts';

import type { SubscriberFacts } from '../facts.ts';

export interface SubscriptionRequest extends Pick<SubscriberFacts, 'id' | 'language'> {
  readonly addressHash: string;
  readonly email: string;
  readonly now: Date;
  /** Whether the subscription is accepted without confirmation. */
  readonly confirmed: boolean;
}

/**
 * Does the same work for a new and a known address. An erased address is not stored again, and a suppressed one is not
 * confirmed by a request.
 */
const upsertStatement = defineCommand(
  'subscriber_upsert',
  `insert into subscribers
     (address_hash, id, email, language, first_subscribed_at, subscribed_at, confirmed_at, opt_in)
   select decode($1, 'hex'), $2::uuid, case when p.reason = 'erased' then null else $3::text end, $4::text,
          $5::timestamptz, $5::timestamptz,
          case when $6::boolean and p.reason is null then $5::timestamptz end,
          case when $6::boolean and p.reason is null then 'single' end
   from (select 1) as one
   left join suppressions p on p.address_hash = decode($1, 'hex')
   on conflict (address_hash) do update
   set email = case when excluded.email is null then null else coalesce(subscribers.email, excluded.email) end,
       language = case when subscribers.confirmed_at is null then coalesce(excluded.language, subscribers.language)
                       else subscribers.language end,
       subscribed_at = greatest(subscribers.subscribed_at, excluded.subscribed_at),
       confirmed_at = coalesce(subscribers.confirmed_at, excluded.confirmed_at),
       opt_in = coalesce(subscribers.opt_in, excluded.opt_in)`,
);

/** Stores a subscription request; the first spelling of the address remains. */
export async function upsertSubscriber(db: Queryable, request: SubscriptionRequest): Promise<void> {
  const { addressHash, id, email, language, now, confirmed } = request;
  await execute(db, upsertStatement, [addressHash, id, email, language, now, confirmed]);
}

export const SubscriberRow = Type.Object({
  id: Type.String(),
  email: Nullable.Text,
  language: Type.Union([Type.Enum(LANGUAGES), Type.Null()]),
  firstSubscribedAt: Timestamp,
  subscribedAt: Timestamp,
  confirmedAt: Nullable.Timestamp,
  optIn: Type.Union([Type.Enum(['single', 'double']), Type.Null()]),
  confirmationMailedAt: Nullable.Timestamp,
  confirmationProblem: Nullable.Text,
  reason: Type.Union([Type.Enum(SUPPRESSION_REASONS), Type.Null()]),
  suppressedAt: Nullable.Timestamp,
});

const SUBSCRIBER_SOURCE = `select ${columnsOf(SubscriberRow)}
   from subscribers left join suppressions using (address_hash)`;

const findStatement = defineStatement(
  'subscriber_find',
  SubscriberRow,
  `${SUBSCRIBER_SOURCE} where address_hash = decode($1, 'hex')`,
);

export async function findSubscriber(
  db: Queryable,
  addressHash: string,
): Promise<SubscriberFacts | null> {
  const row = await queryRow(db, findStatement, [addressHash]);
  return row && toSubscriber(row);
}

const findByIdStatement = defineStatement(
  'subscriber_find_by_id',
  SubscriberRow,
  `${SUBSCRIBER_SOURCE} where id = $1::uuid`,
);

export async function findSubscriberById(
  db: Queryable,
  id: string,
): Promise<SubscriberFacts | null> {
  const row = await queryRow(db, findByIdStatement, [id]);
  return row && toSubscriber(row);
}

export function toSubscriber(row: Static<typeof SubscriberRow>): SubscriberFacts {
  const { reason, suppressedAt, ...facts } = row;
  const suppression = reason === null || suppressedAt === null ? null : { reason, suppressedAt };
  return { ...facts, suppression };
}

const confirmStatement = defineCommand(
  'subscriber_confirm',
  `update subscribers set confirmed_at = $2, opt_in = 'double' where address_hash = decode($1, 'hex')`,
);

export async function confirmSubscriber(
  db: Queryable,
  addressHash: string,
  now: Date,
): Promise<void> {
  await execute(db, confirmStatement, [addressHash, now]);
}

const recordMailStatement = defineCommand(
  'subscriber_record_confirmation',
  `update subscribers
   set confirmation_mailed_at = coalesce($2, confirmation_mailed_at), confirmation_problem = $3
   where address_hash = decode($1, 'hex')`,
);

/** @param mailedAt null when the confirmation e-mail was not sent */
export async function recordConfirmationOutcome(
  db: Queryable,
  addressHash: string,
  mailedAt: Date | null,
  problem: string | null,
): Promise<void> {
  await execute(db, recordMailStatement, [addressHash, mailedAt, problem]);
}

const deleteStatement = defineCommand(
  'subscriber_delete',
  `delete from subscribers where address_hash = decode($1, 'hex')`,
);

/** Returns false when there was no subscriber with this address. */
export async function deleteSubscriber(db: Queryable, addressHash: string): Promise<boolean> {
  return (await execute(db, deleteStatement, [addressHash])) === 1;
}

const deletePendingStatement = defineCommand(
  'subscriber_delete_pending',
  `delete from subscribers where address_hash in (
     select address_hash from subscribers where confirmed_at is null and subscribed_at < $1
     order by subscribed_at limit $2
   )`,
);

/** Deletes subscribers whose newest request is older and was never confirmed; returns how many. */
export async function deletePendingSubscribers(
  db: Queryable,
  before: Date,
  limit: number,
): Promise<number> {
  return execute(db, deletePendingStatement, [before, limit]);
}

const listStatement = defineStatement(
  'subscriber_list_before',
  SubscriberRow,
  `${SUBSCRIBER_SOURCE}
   where (first_subscribed_at, id) < ($1, $2) order by first_subscribed_at desc, id desc limit $3`,
);

/** The keys after all rows. */
const MAX_DATE = new Date('9999-12-31T00:00:00Z');
const LAST_UUID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * Returns a page of subscribers, newest first.
 * @param before the last one of the previous page; null: the first page
 */
export async function listSubscribersBefore(
  db: Queryable,
  before: Pick<SubscriberFacts, 'firstSubscribedAt' | 'id'> | null,
  limit: number,
): Promise<SubscriberFacts[]> {
  const { firstSubscribedAt, id } = before ?? { firstSubscribedAt: MAX_DATE, id: LAST_UUID };
  const rows = await queryRows(db, listStatement, [firstSubscribedAt, id, limit]);
  return rows.map(toSubscriber);
}

const countStatement = defineStatement(
  'subscriber_count_unmailed',
  Type.Object({ count: Type.Integer(), problem: Nullable.Text }),
  `select count(*)::int as count, mode() within group (order by confirmation_problem) as problem
   from subscribers left join suppressions using (address_hash)
   where confirmed_at is null and confirmation_mailed_at is null and reason is null and email is not null
     and subscribed_at < $1 and coalesce(confirmation_problem, '') !~ '^(address|smtp_55|mailbox_limit)'`,
);

/**
 * Counts the pending subscribers from before a time to whom no confirmation e-mail was sent, except those whose address the
 * relay rejected, and returns the most frequent problem.
 */
export async function countUnmailed(
  db: Queryable,
  before: Date,
): Promise<{ readonly count: number; readonly problem: string | null }> {
  return (await queryRow(db, countStatement, [before])) ?? { count: 0, problem: null };
}
