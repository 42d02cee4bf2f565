import { isUnclassified, isUniqueViolation } from '#server/db/database-errors.ts';
import {
  type HotStatement,
  type TextRow,
  runHot,
  toJsonArray,
  toPlainArray,
  toTextArray,
  toUuidArray,
} from '#server/db/hot-statement.ts';
import { defineCommand, execute, toColumns, type Queryable } from '#server/db/statement.ts';

import type { Day } from '../rules/days.ts';
import type { DropReason } from '../rules/select-events.ts';

/** The events of one request, all with different ids. */
export interface EventsToStore {
  readonly installId: string;
  readonly sessionId: string;
  readonly appVersion: string;
  readonly osVersion: string | null;
  readonly events: readonly EventToStore[];
}

interface EventToStore {
  readonly eventId: string;
  readonly name: string;
  /** RFC 3339, in UTC. */
  readonly occurredAt: string;
  /** The time by the client's clock, where it was corrected; else null. */
  readonly clientOccurredAt: string | null;
  readonly props: Readonly<Record<string, string>> | null;
}

export interface StoredCount {
  /** False: the install does not share usage data, and nothing was stored. */
  readonly sharing: boolean;
  /** The events whose ids were new. */
  readonly stored: number;
}

/**
 * The requests and the events to store. An install shares usage data unless its newest report is a refusal: the newest
 * of its active activations, or of the deactivated ones when no active one has reported; of two at the same time, the
 * refusal applies.
 * @param columns the columns of `incoming`
 */
const selectInput = (columns: string): string => `
    with request as materialized (
      select number, install_id, session_id, app_version, os_version,
             coalesce((
               select usage_sharing from activations
               where activations.install_id = input.install_id and usage_sharing is not null
               order by deactivated_at is not null, usage_sharing_reported_at desc, usage_sharing
               limit 1
             ), true) as sharing
      from unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[])
        with ordinality as input (install_id, session_id, app_version, os_version, number)
    ), incoming as materialized (
      select ${columns}
      from unnest($6::bigint[], $7::uuid[], $8::text[], $9::timestamptz[], $10::timestamptz[], $11::jsonb[])
        as event (number, event_id, name, occurred_at, client_occurred_at, props)
      join request using (number)
      where sharing
      order by event_id, number
    )`;

const INCOMING_COLUMNS =
  'number, event_id, install_id, session_id, name, occurred_at, client_occurred_at, app_version, os_version, props';

const EVENT_COLUMNS =
  'event_id, received_at, install_id, session_id, name, occurred_at, client_occurred_at, app_version, os_version, props';

const EVENT_VALUES =
  'event_id, $1::timestamptz, install_id, session_id, name, occurred_at, client_occurred_at, app_version, os_version, props';

/** Fails when an id is known or occurs twice. Returns the requests that share no usage data. */
const storeNewStatement: HotStatement = {
  name: 'event_store_new',
  text: `${selectInput(INCOMING_COLUMNS)}, ids as (
      insert into event_ids (event_id, received_at) select event_id, $1::timestamptz from incoming
    ), stored as (
      insert into events (${EVENT_COLUMNS}) select ${EVENT_VALUES} from incoming
    )
    select number from request where not sharing`,
};

/** Skips known ids; an id that occurs twice belongs to the first request. */
const storeUnknownStatement: HotStatement = {
  name: 'event_store_unknown',
  text: `${selectInput(`distinct on (event_id) ${INCOMING_COLUMNS}`)}, fresh as (
      insert into event_ids (event_id, received_at) select event_id, $1::timestamptz from incoming
      on conflict (event_id) do nothing
      returning event_id
    ), stored as (
      insert into events (${EVENT_COLUMNS}) select ${EVENT_VALUES} from incoming join fresh using (event_id)
      returning event_id
    )
    select request.number, request.sharing, count(fresh.event_id)
    from request
    left join incoming using (number)
    left join fresh using (event_id)
    group by request.number, request.sharing
    order by request.number`,
};

/**
 * Stores the new events of several requests in one statement, and returns for each request how many were new. The ids
 * are inserted in order, so that two batches with the same events wait for each other and rarely deadlock.
 *
 * Nearly always all events are new and inserted without a check: 8 µs of PostgreSQL per event instead of 12. The second
 * statement runs only when the first one found a duplicate, or failed on Citus for whatever reason: it reports the reason.
 * @param receivedAt the partition of its day must exist
 */
export async function storeEvents(
  db: Queryable,
  requests: readonly EventsToStore[],
  receivedAt: Date,
): Promise<readonly StoredCount[]> {
  const parameters = toParameters(requests, receivedAt);
  try {
    const { rows } = await runHot(db, storeNewStatement, parameters);
    const notSharing = new Set(rows.map(([number]) => Number(number)));
    return requests.map(({ events }, index) => {
      const sharing = !notSharing.has(index + 1);
      return { sharing, stored: sharing ? events.length : 0 };
    });
  } catch (error) {
    if (!isUniqueViolation(error) && !isUnclassified(error)) throw error;
    const { rows } = await runHot(db, storeUnknownStatement, parameters);
    return rows.map(toStoredCount);
  }
}

function toStoredCount([, sharing, stored]: TextRow): StoredCount {
  return { sharing: sharing === 't', stored: Number(stored) };
}

function toParameters(requests: readonly EventsToStore[], receivedAt: Date): string[] {
  const events = requests.flatMap((request) => request.events);
  return [
    receivedAt.toISOString(),
    toUuidArray(requests.map(({ installId }) => installId)),
    toUuidArray(requests.map(({ sessionId }) => sessionId)),
    toTextArray(requests.map(({ appVersion }) => appVersion)),
    toTextArray(requests.map(({ osVersion }) => osVersion)),
    toPlainArray(requests.flatMap((request, index) => request.events.map(() => index + 1))),
    toUuidArray(events.map(({ eventId }) => eventId)),
    toTextArray(events.map(({ name }) => name)),
    toPlainArray(events.map(({ occurredAt }) => occurredAt)),
    toPlainArray(events.map(({ clientOccurredAt }) => clientOccurredAt)),
    toJsonArray(events.map(({ props }) => (props === null ? null : JSON.stringify(props)))),
  ];
}

/** The dropped events of a day for one reason. */
export interface DropRow {
  readonly day: Day;
  readonly reason: DropReason;
  readonly events: number;
}

/** Ordered, so that two processes wait for each other and never deadlock. */
const addDropsStatement = defineCommand(
  'event_drop_add',
  `insert into event_drops as known (day, reason, events)
   select day, reason, events from unnest($1::date[], $2::text[], $3::bigint[]) as drop (day, reason, events)
   order by day, reason
   on conflict (day, reason) do update set events = known.events + excluded.events`,
);

/** Adds to the numbers of dropped events. @param drops one element for each day and reason */
export async function addDrops(db: Queryable, drops: readonly DropRow[]): Promise<void> {
  await execute(db, addDropsStatement, toColumns(drops, ['day', 'reason', 'events']));
}
