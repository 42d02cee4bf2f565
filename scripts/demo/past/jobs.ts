import { createJobHandlers } from '#server/background.ts';

import { HOUR_MS } from '../time.ts';
import { runTogether } from './run-actions.ts';
import type { Action, World } from './world.ts';

interface JobRow {
  readonly id: number;
  readonly name: string;
  readonly payload: { readonly transactionId?: string };
}

/** A part of the past. */
export interface Period {
  readonly startMs: number;
  readonly endMs: number;
}

/** A job runs this long after what caused it. */
export const JOB_DELAY_MS = 1_300;

/**
 * Runs the jobs that were added, as the service does. Those that fail stay in the queue.
 * @param timeOf when the cause of a job happened, by its payload
 * @param period in which they run; those whose cause is older, or not known, run at its end
 */
export async function runJobs(
  { context }: World,
  timeOf: (payload: JobRow['payload']) => number | undefined,
  { startMs, endMs }: Period,
): Promise<void> {
  const handlers = new Map(
    createJobHandlers(context).map((handler) => [handler.name, handler.run]),
  );
  const { rows } = await context.pool.query<JobRow>(
    `select id, name, payload from jobs where attempts = 0 and name = any($1) order by id`,
    [[...handlers.keys()]],
  );
  if (rows.length === 0) return;
  const done: number[] = [];
  const failed = new Map<number, string>();
  const actions = rows.flatMap(({ id, name, payload }): Action[] => {
    const run = [...handlers].find(([known]) => known === name)?.[1];
    if (run === undefined) return [];
    // A job that was added again later has an old cause.
    const causeMs = timeOf(payload) ?? 0;
    const atMs = (causeMs < startMs ? endMs - HOUR_MS : causeMs) + JOB_DELAY_MS;
    const attempt = async (): Promise<void> => {
      try {
        await run(payload, new AbortController().signal);
        done.push(id);
      } catch (error) {
        failed.set(id, error instanceof Error ? error.message : String(error));
      }
    };
    return [{ atMs, run: attempt }];
  });
  await runTogether(actions);
  await context.pool.query('delete from jobs where id = any($1)', [done]);
  if (failed.size === 0) return;
  await context.pool.query(
    `update jobs set attempts = 1, last_error = failed.error, created_at = $3::timestamptz
     from unnest($1::bigint[], $2::text[]) as failed (id, error) where jobs.id = failed.id`,
    [[...failed.keys()], [...failed.values()], new Date(endMs - HOUR_MS)],
  );
}
