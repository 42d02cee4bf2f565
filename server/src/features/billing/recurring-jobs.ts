import type { Context } from '#server/context.ts';
import { addJobs } from '#server/jobs/add-jobs.ts';

import { reconcilePaddle } from './reconcile.ts';
import { retryDueEvents } from './replay-events.ts';

const MINUTE_MS = 60_000;
const RETRY_INTERVAL_MS = MINUTE_MS;
const RECONCILE_INTERVAL_MS = 60 * MINUTE_MS;

/** In one job; when there are more the next one begins at once. */
const MAX_RETRIED = 100;

/** All processes together do each of these once in a while, for a job with a key is there once. */
const ONLY_ONE = 'only';

/**
 * Begins the jobs that follow themselves, at the start of the service; those that are there begin anew. Where no payments
 * are taken there is nothing to do, and the library that does jobs need not be loaded; nor is there a log to compare where
 * Paddle cannot be asked.
 */
export async function beginRecurringJobs(
  ctx: Pick<Context, 'paddleApi' | 'pool' | 'webhookSecrets'>,
): Promise<void> {
  if (Object.values(ctx.webhookSecrets).every((secrets) => secrets.length === 0)) return;
  const names: RecurringJob[] = ['retry_webhooks'];
  if (ctx.paddleApi !== null) names.push('reconcile_payments');
  await addJobs(
    ctx.pool,
    names.map((name) => ({ name, payload: {}, key: ONLY_ONE })),
  );
}

/** Tries again the events that could not be applied and whose time has come. */
export async function retryWebhooks(ctx: Context): Promise<void> {
  let tried = 0;
  try {
    tried = await retryDueEvents(ctx, MAX_RETRIED);
  } finally {
    await follow(ctx, 'retry_webhooks', tried === MAX_RETRIED ? 0 : RETRY_INTERVAL_MS);
  }
}

/**
 * Applies the events of the provider's log that never arrived; when there are more than one job compares, the next one
 * begins at once. Ends where there is no key to ask with any more.
 */
export async function reconcilePayments(ctx: Context, signal: AbortSignal): Promise<void> {
  if (ctx.paddleApi === null) return;
  let delayMs = RECONCILE_INTERVAL_MS;
  try {
    const reconciliation = await reconcilePaddle(ctx, { actor: 'latchkey', signal });
    if (reconciliation?.reachedEnd === false) delayMs = 0;
  } finally {
    await follow(ctx, 'reconcile_payments', delayMs);
  }
}

type RecurringJob = 'retry_webhooks' | 'reconcile_payments';

/** However this one ended, the next one is there. */
async function follow(
  ctx: Pick<Context, 'clock' | 'pool'>,
  name: RecurringJob,
  delayMs: number,
): Promise<void> {
  const runAt = new Date(ctx.clock.now().getTime() + delayMs);
  await addJobs(ctx.pool, [{ name, payload: {}, key: ONLY_ONE, runAt }]);
}
