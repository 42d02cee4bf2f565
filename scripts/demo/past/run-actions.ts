import { runAt } from '../time.ts';
import type { Action } from './world.ts';

/** Runs actions one after the other, each at its time. */
export async function runInOrder(actions: readonly Action[]): Promise<void> {
  for (const { atMs, run } of actions.toSorted((one, other) => one.atMs - other.atMs)) {
    await runAt(atMs, run);
  }
}

/** Runs actions beside each other, each at its time. */
export async function runTogether(actions: readonly Action[], limit = 8): Promise<void> {
  const rest = actions.toSorted((one, other) => one.atMs - other.atMs).values();
  const work = async (): Promise<void> => {
    for (const { atMs, run } of rest) await runAt(atMs, run);
  };
  await Promise.all(Array.from({ length: limit }, work));
}

/** Sorts actions into the UTC days on which they happen. */
export function groupByDay(
  actions: readonly Action[],
  dayOf: (timeMs: number) => number,
): ReadonlyMap<number, readonly Action[]> {
  return Map.groupBy(actions, ({ atMs }) => dayOf(atMs));
}
