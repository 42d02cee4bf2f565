import type { Context } from '#server/context.ts';
import { countRefusedKeyEmails } from '#server/features/billing/key-emails/backlog-queries.ts';
import {
  countUnappliedEvents,
  type UnappliedEvents,
} from '#server/features/billing/queries/events.ts';
import {
  findReconciliation,
  hasReconciliationFailed,
} from '#server/features/billing/queries/reconciliations.ts';
import {
  countDeliveriesFailedSince,
  countFailedEndpoints,
} from '#server/features/outgoing-webhooks/queries/delivery-log.ts';

import { countJobs, type JobNumbers } from './queries.ts';

/** What is still to be done, and what needs somebody's attention. */
export interface Backlog {
  readonly jobs: JobNumbers;
  /** Of the payment providers. */
  readonly events: UnappliedEvents;
  /** Whether the last attempt to read Paddle's log failed. */
  readonly isReconciliationFailing: boolean;
  readonly undelivered: UndeliveredNumbers;
}

/** What did not reach its recipient. */
export interface UndeliveredNumbers {
  /** E-mails with keys that the relay refused in the last week, or took without a word. */
  readonly keyEmails: number;
  /** Deliveries to endpoints that failed for good in the last week. */
  readonly deliveries: number;
  /** Endpoints that were disabled for failing. */
  readonly endpoints: number;
}

/** An address that does not exist stays refused for ever: after a week nobody needs to be reminded of it. */
const LATELY_MS = 7 * 24 * 60 * 60_000;

/** Counting on would tell nobody anything. */
const MAX_COUNTED = 1_000;

/** Counts all of it, each part by an index that holds nothing else. */
export async function countBacklog(
  ctx: Pick<Context, 'clock' | 'paddleApi' | 'pool'>,
): Promise<Backlog> {
  const { pool } = ctx;
  return {
    jobs: await countJobs(pool),
    events: await countUnappliedEvents(pool),
    isReconciliationFailing: await isReconciliationFailing(ctx),
    undelivered: await countUndelivered(ctx),
  };
}

async function countUndelivered({
  clock,
  pool,
}: Pick<Context, 'clock' | 'pool'>): Promise<UndeliveredNumbers> {
  const since = new Date(clock.now().getTime() - LATELY_MS);
  return {
    keyEmails: await countRefusedKeyEmails(pool, since, MAX_COUNTED),
    deliveries: await countDeliveriesFailedSince(pool, since, MAX_COUNTED),
    endpoints: await countFailedEndpoints(pool),
  };
}

/** Without an API key nothing is compared any more, and the last result no longer matters. */
async function isReconciliationFailing({
  paddleApi,
  pool,
}: Pick<Context, 'paddleApi' | 'pool'>): Promise<boolean> {
  if (paddleApi === null) return false;
  const reconciliation = await findReconciliation(pool, 'paddle');
  return reconciliation !== null && hasReconciliationFailed(reconciliation);
}
