import type { Context } from '#server/context.ts';
import {
  countUnfinishedEvents,
  type EventNumbers,
} from '#server/features/billing/queries/events.ts';
import { findReconciliation, isFailing } from '#server/features/billing/queries/reconciliations.ts';

import { countJobs, type JobNumbers } from './queries.ts';

/** What waits to be done, and what waits for somebody. */
export interface Backlog {
  readonly jobs: JobNumbers;
  /** Of the payment providers. */
  readonly events: EventNumbers;
  /** Whether Paddle's log could not be read the last time, and is still to be. */
  readonly isReconciliationFailing: boolean;
}

/** Counts all of it; of events it reads only those that are not applied. */
export async function countBacklog(ctx: Pick<Context, 'paddleApi' | 'pool'>): Promise<Backlog> {
  const { pool } = ctx;
  return {
    jobs: await countJobs(pool),
    events: await countUnfinishedEvents(pool),
    isReconciliationFailing: await isReconciliationFailing(ctx),
  };
}

/** Without a key nothing is compared any more, and how it last went is past. */
async function isReconciliationFailing({
  paddleApi,
  pool,
}: Pick<Context, 'paddleApi' | 'pool'>): Promise<boolean> {
  if (paddleApi === null) return false;
  const reconciliation = await findReconciliation(pool, 'paddle');
  return reconciliation !== null && isFailing(reconciliation);
}
