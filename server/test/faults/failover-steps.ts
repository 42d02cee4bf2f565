/** Steps of tests of a failover under load. */
import assert from 'node:assert/strict';

import { eventually } from '../eventually.ts';
import type { ReplicatedServer } from '../replicated-postgres.ts';
import type { RecordedEvents } from './recorded-events.ts';
import type { RecordedLoad } from './recorded-load.ts';

/** Returns the time from the start of a failover until a write of each kind was acknowledged. @param failOver promotes the standby */
export async function measureReturn(
  { ledger }: RecordedLoad,
  events: RecordedEvents,
  failOver: () => Promise<unknown>,
): Promise<number> {
  const count = () =>
    [ledger.activations, ledger.trials, events.acknowledged].map((of) => of.length);
  const before = count();
  const startedAt = performance.now();
  const finished = failOver();
  await eventually(() => count().every((now, index) => now > (before[index] ?? 0)));
  const backMs = performance.now() - startedAt;
  await finished;
  return backMs;
}

/** Asserts that each acknowledged event is stored once, and no other event than those in doubt. */
export async function verifyEvents(
  standby: ReplicatedServer,
  events: RecordedEvents,
): Promise<void> {
  const rows = await standby.query('select event_id::text from events', 'latchkey');
  const stored = rows.map((row) => String(row['event_id']));
  assert.equal(new Set(stored).size, stored.length);
  const inDoubt = new Set(events.unanswered);
  const certain = stored.filter((id) => !inDoubt.has(id));
  assert.ok(events.acknowledged.length > 0);
  assert.deepEqual(certain.toSorted(), events.acknowledged.toSorted());
}
