import { defineCommand, execute, type Queryable } from '#server/db/statement.ts';

import type { DropReason } from '../rules/drop-reasons.ts';
import type { Day } from '../rules/days.ts';

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
