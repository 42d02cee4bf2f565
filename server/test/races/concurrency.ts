import type { Pool } from 'pg';

import { eventually } from '../eventually.ts';

/** Runs work a number of times concurrently, with its index. */
export function runConcurrently<Result>(
  times: number,
  work: (index: number) => Promise<Result>,
): Promise<Result[]> {
  return Promise.all(Array.from({ length: times }, (_, index) => work(index)));
}

/** Counts each value. */
export function tally(values: readonly (string | number | null | undefined)[]) {
  const counts: Record<string, number> = {};
  for (const value of values) counts[String(value)] = (counts[String(value)] ?? 0) + 1;
  return counts;
}

/** Returns the items in rotation, as a load balancer does. */
export function roundRobin<Item>(items: readonly [Item, ...Item[]]): (index: number) => Item {
  return (index) => items[index % items.length] ?? items[0];
}

/** Waits until that many connections to the database of a pool wait for a lock. */
export async function waitForLocks(pool: Pool, count: number): Promise<void> {
  await eventually(async () => {
    const { rows } = await pool.query(
      `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
    );
    return rows.length === count;
  });
}
