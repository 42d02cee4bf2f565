import type { Queryable } from '#server/db/statement.ts';
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
  /** Whether Paddle's log could not be read the last time. */
  readonly isReconciliationFailing: boolean;
}

/** Counts all of it; of events it reads only those that are not applied. */
export async function countBacklog(db: Queryable): Promise<Backlog> {
  const reconciliation = await findReconciliation(db, 'paddle');
  return {
    jobs: await countJobs(db),
    events: await countUnfinishedEvents(db),
    isReconciliationFailing: reconciliation !== null && isFailing(reconciliation),
  };
}
