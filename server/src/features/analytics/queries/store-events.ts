import { runHot } from '#server/db/hot-statement.ts';
import type { Queryable } from '#server/db/statement.ts';

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
  readonly occurredAt: Date;
  /** What the client's clock said, where that was wrong. */
  readonly toldAt: Date | null;
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
 * An install shares its usage unless it has said otherwise: what its active activations said last counts, or where none
 * of them said anything, the ones that were given up; one no is enough.
 *
 * The ids are taken in their order, so that two batches with the same events wait for each other and never in a circle.
 */
const storeEventsStatement = {
  name: 'event_store',
  text: `
    with request as (
      select batch, install_id, session_id, app_version, os_version,
             (select coalesce(bool_and(usage_sharing) filter (where deactivated_at is null), bool_and(usage_sharing), true)
              from activations where activations.install_id = told.install_id and usage_sharing is not null) as sharing
      from json_to_recordset($1::json)
        as told (batch integer, install_id uuid, session_id uuid, app_version text, os_version text)
    ), told as (
      select batch, event_id, name, occurred_at, told_at, props
      from json_to_recordset($2::json)
        as event (batch integer, event_id uuid, name text, occurred_at timestamptz, told_at timestamptz, props jsonb)
    ), fresh as (
      insert into event_ids (event_id, received_at)
      select event_id, $3::timestamptz from told join request using (batch)
      where sharing
      order by event_id
      on conflict (event_id) do nothing
      returning event_id
    ), stored as (
      insert into events (event_id, received_at, install_id, session_id, name, occurred_at, told_at, app_version,
                          os_version, props)
      select event_id, $3::timestamptz, install_id, session_id, name, occurred_at, told_at, app_version, os_version, props
      from fresh join told using (event_id) join request using (batch)
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
 * order, how many these were. No id may be there twice.
 * @param receivedAt the day of which must have its partition
 */
export async function storeEvents(
  db: Queryable,
  requests: readonly EventsToStore[],
  receivedAt: Date,
): Promise<readonly StoredCount[]> {
  const { rows } = await runHot(db, storeEventsStatement, [
    JSON.stringify(requests.map(toRequestRow)),
    JSON.stringify(requests.flatMap(({ events }, batch) => events.map((e) => toRow(e, batch)))),
    receivedAt.toISOString(),
  ]);
  return rows.map(([, sharing, stored]) => ({ sharing: sharing === 't', stored: Number(stored) }));
}

function toRequestRow(
  { installId, sessionId, appVersion, osVersion }: EventsToStore,
  batch: number,
) {
  return {
    batch,
    install_id: installId,
    session_id: sessionId,
    app_version: appVersion,
    os_version: osVersion,
  };
}

function toRow({ eventId, name, occurredAt, toldAt, props }: EventToStore, batch: number) {
  return { batch, event_id: eventId, name, occurred_at: occurredAt, told_at: toldAt, props };
}
