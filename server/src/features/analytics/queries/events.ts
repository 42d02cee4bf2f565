import { isUniqueViolation } from '#server/db/database-errors.ts';
import {
  runHot,
  type HotStatement,
  type TextRow,
  toJsonArray,
  toPlainArray,
  toTextArray,
  toUuidArray,
} from '#server/db/hot-statement.ts';
import { type Queryable, defineCommand, execute } from '#server/db/statement.ts';

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

export interface EventToStore {
  readonly eventId: string;
  readonly name: string;
  /** RFC 3339, in UTC. */
  readonly occurredAt: string;
  /** What the client's clock said, where that was wrong. */
  readonly toldAt: string | null;
  readonly props: Readonly<Record<string, string>> | null;
}

/** What became of one request's events. */
export interface StoredCount {
  /** False: the user does not share usage, and nothing was stored. */
  readonly sharing: boolean;
  /** Those that nobody had sent before. */
  readonly stored: number;
}

/**
 * An install shares its usage by default. The newest report of its active activations counts, or of its deactivated ones
 * if no active one has reported; of two reports at the same time, a no.
 */
const TOLD = `
    with request as materialized (
      select batch, install_id, session_id, app_version, os_version,
             coalesce((
               select usage_sharing from activations
               where activations.install_id = told.install_id and usage_sharing is not null
               order by deactivated_at is not null, usage_sharing_reported_at desc, usage_sharing
               limit 1
             ), true) as sharing
      from unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[])
        with ordinality as told (install_id, session_id, app_version, os_version, batch)
    ), told as materialized (
      select batch, event_id, install_id, session_id, name, occurred_at, told_at, app_version, os_version, props
      from unnest($6::bigint[], $7::uuid[], $8::text[], $9::timestamptz[], $10::timestamptz[], $11::jsonb[])
        as event (batch, event_id, name, occurred_at, told_at, props)
      join request using (batch)
      where sharing
      order by event_id
    )`;

const COLUMNS =
  'event_id, received_at, install_id, session_id, name, occurred_at, told_at, app_version, os_version, props';

const VALUES =
  'event_id, $1::timestamptz, install_id, session_id, name, occurred_at, told_at, app_version, os_version, props';

/** Fails when any of the events is there already. The requests that it gives are those that share nothing. */
const storeNewStatement: HotStatement = {
  name: 'event_store_new',
  text: `${TOLD}, known as (
      insert into event_ids (event_id, received_at) select event_id, $1::timestamptz from told
    ), stored as (
      insert into events (${COLUMNS}) select ${VALUES} from told
    )
    select batch from request where not sharing`,
};

const storeUnknownStatement: HotStatement = {
  name: 'event_store_unknown',
  text: `${TOLD}, fresh as (
      insert into event_ids (event_id, received_at) select event_id, $1::timestamptz from told
      on conflict (event_id) do nothing
      returning event_id
    ), stored as (
      insert into events (${COLUMNS}) select ${VALUES} from told join fresh using (event_id)
      returning event_id
    )
    select request.batch, request.sharing, count(fresh.event_id)
    from request
    left join told using (batch)
    left join fresh using (event_id)
    group by request.batch, request.sharing
    order by request.batch`,
};

/**
 * Stores the events that nobody sent before, of several requests in one statement, and gives for each request, in their
 * order, how many these were. No id may be there twice. The ids are taken in their order, so that two batches with the
 * same events wait for each other and hardly ever in a circle.
 *
 * Nearly always all are new, and then they are merely inserted: 8 µs of PostgreSQL for each event, where looking for each
 * id first and leaving out what was found took 12. That is done when the first way has met an event that is known.
 * @param receivedAt the day of which must have its partition
 */
export async function storeEvents(
  db: Queryable,
  requests: readonly EventsToStore[],
  receivedAt: Date,
): Promise<readonly StoredCount[]> {
  const parameters = toParameters(requests, receivedAt);
  try {
    const { rows } = await runHot(db, storeNewStatement, parameters);
    const silent = new Set(rows.map(([batch]) => Number(batch)));
    return requests.map(({ events }, index) => {
      const sharing = !silent.has(index + 1);
      return { sharing, stored: sharing ? events.length : 0 };
    });
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    const { rows } = await runHot(db, storeUnknownStatement, parameters);
    return rows.map(readCount);
  }
}

function readCount([, sharing, stored]: TextRow): StoredCount {
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
    toPlainArray(events.map(({ toldAt }) => toldAt)),
    toJsonArray(events.map(({ props }) => (props === null ? null : JSON.stringify(props)))),
  ];
}

/** In one order, so that two processes wait for each other and never in a circle. */
const addStatement = defineCommand(
  'event_drop_add',
  `insert into event_drops as known (day, reason, events)
   select day, reason, events from unnest($1::date[], $2::text[], $3::bigint[]) as drop (day, reason, events)
   order by day, reason
   on conflict (day, reason) do update set events = known.events + excluded.events`,
);

/** Adds to the numbers of events that were not stored; no day and reason may be there twice. */
export async function addDrops(
  db: Queryable,
  drops: readonly { readonly day: Day; readonly reason: DropReason; readonly events: number }[],
): Promise<void> {
  await execute(db, addStatement, [
    drops.map(({ day }) => day),
    drops.map(({ reason }) => reason),
    drops.map(({ events }) => events),
  ]);
}
