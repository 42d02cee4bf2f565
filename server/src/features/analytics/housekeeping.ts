import type { Logger } from 'pino';

import { retryConflicts } from '#server/db/transaction.ts';
import type { BackgroundTask } from '#server/jobs/background-task.ts';

import { createEventPartitions } from './create-event-partitions.ts';
import { writeDrops, type EventCounts } from './event-counts.ts';
import { indexPastPartitions } from './index-past-partitions.ts';
import { findLastRun } from './queries/rollup-marks.ts';
import { removeOldData, type RemovalDependencies } from './remove-old-data.ts';
import { runRollups } from './rollups/run-rollups.ts';
import { timeUntilRun, type RollupRun } from './rules/rollup-marks.ts';

interface HousekeepingDependencies extends RemovalDependencies {
  readonly eventCounts: EventCounts;
  readonly log: Pick<Logger, 'error' | 'warn'>;
  readonly metrics: { setRollupAge(read: () => number | null): void };
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** The age at which roll-ups are updated. */
const ROLLUP_INTERVAL_MS = 5 * MINUTE_MS;

/** An incomplete run continues after a pause. */
const ROLLUP_BUDGET_MS = 30 * SECOND_MS;

/** The maintenance tasks of usage and events. Locks in the database keep apart those that every process runs. */
export function createAnalyticsTasks(deps: HousekeepingDependencies): readonly BackgroundTask[] {
  return [
    {
      name: 'event_partitions',
      scope: 'process',
      isForLeader: true,
      firstRunMs: 3 * SECOND_MS,
      intervalMs: HOUR_MS,
      event: 'events.partition_creation',
      action: 'create event partitions',
      run: async () =>
        void (await retryConflicts(() => createEventPartitions(deps.pool, deps.clock.now()))),
    },
    {
      name: 'event_indexes',
      scope: 'singleton',
      intervalMs: HOUR_MS,
      timeoutMs: HOUR_MS,
      event: 'events.index_creation',
      action: 'create indexes of event partitions',
      run: (signal) => indexPastPartitions(deps, signal),
    },
    {
      name: 'event_drops',
      scope: 'process',
      intervalMs: 10 * SECOND_MS,
      event: 'events.drop_storage',
      action: 'store the counts of dropped events',
      run: () => writeDrops(deps),
      finish: () => writeLastDrops(deps),
    },
    {
      name: 'analytics_removal',
      scope: 'process',
      isForLeader: true,
      firstRunMs: MINUTE_MS,
      intervalMs: HOUR_MS,
      timeoutMs: HOUR_MS,
      event: 'analytics.removal',
      action: 'remove old events and usage days',
      run: (signal) => removeOldData(deps, signal),
    },
    createRollupTask(deps),
  ];
}

/** Roll-ups of all processes: the first process that finds them due updates them. */
function createRollupTask(deps: HousekeepingDependencies): BackgroundTask {
  const { clock, metrics, pool } = deps;
  let last: RollupRun | null = null;
  metrics.setRollupAge(
    () => last && (clock.now().getTime() - last.finishedAt.getTime()) / SECOND_MS,
  );
  return {
    name: 'rollups',
    scope: 'process',
    isForLeader: true,
    firstRunMs: 5 * SECOND_MS,
    intervalMs: MINUTE_MS,
    event: 'rollups.update',
    action: 'update roll-ups',
    async run(signal) {
      last = await findLastRun(pool);
      if (timeUntilRun(last, clock.now(), ROLLUP_INTERVAL_MS) > 0) return undefined;
      const startedAt = performance.now();
      const outcome = await runRollups(deps, { signal, budgetMs: ROLLUP_BUDGET_MS });
      if (outcome === 'unfinished') return performance.now() - startedAt;
      last = await findLastRun(pool);
      return undefined;
    },
  };
}

/** Counts that cannot be stored at the stop are lost, so they are logged. */
async function writeLastDrops(deps: HousekeepingDependencies): Promise<void> {
  try {
    await writeDrops(deps);
  } catch (error) {
    const events = deps.eventCounts.takeDrops().reduce((sum, drop) => sum + drop.events, 0);
    const fields = { event: 'events.drop_counts_lost', err: error, events };
    deps.log.warn(fields, 'could not store the counts of dropped events before the stop');
  }
}
