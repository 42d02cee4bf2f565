import { deleteInBatches } from '#server/db/delete-in-batches.ts';
import type { BackgroundTask } from '#server/jobs/background-task.ts';
import { defineJobHandler, type JobHandler } from '#server/jobs/job-queue.ts';

import type { BillingDependencies } from './dependencies.ts';
import { lookUpCheckout } from './look-up-checkout.ts';
import { lookUpCustomer } from './look-up-customer.ts';
import { lookUpEvent } from './look-up-event.ts';
import { removeEventBodies } from './queries/events.ts';
import { reconcileGumroad } from './reconcile-gumroad.ts';
import { reconcilePaddle } from './reconcile.ts';
import { backfillRevenue, rollUpDueRevenue } from './roll-up-revenue.ts';
import { retryDueEvents } from './stored-events.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Purchases that change several times within it are counted once. */
const REVENUE_INTERVAL_MS = 10_000;

/** In one run, between which new payments are counted first. */
const BACKFILL_PAGES = 50;

/** In one run; if there are more, the next run starts at once. */
const MAX_RETRIED = 100;

export function createBillingJobs(deps: BillingDependencies): readonly JobHandler[] {
  return [
    defineJobHandler('look_up_checkout', (checkout, signal) =>
      lookUpCheckout(deps, checkout, signal),
    ),
    defineJobHandler('look_up_customer', (key, signal) => lookUpCustomer(deps, key, signal)),
    defineJobHandler('look_up_event', (key, signal) => lookUpEvent(deps, key, signal)),
  ];
}

export function createBillingTasks(deps: BillingDependencies): readonly BackgroundTask[] {
  const { gumroadApi, paddleApi, webhookSecrets } = deps;
  const receivesPayments = Object.values(webhookSecrets).some((secrets) => secrets.length > 0);
  const common = { scope: 'singleton', failureLevel: 'error' } as const;
  return [
    {
      ...common,
      name: 'payment_retry',
      isEnabled: receivesPayments,
      intervalMs: MINUTE_MS,
      timeoutMs: 2 * MINUTE_MS,
      event: 'payments.retry',
      action: 'retry payment events that could not be applied',
      run: async (signal) => {
        const tried = await retryDueEvents(deps, MAX_RETRIED, signal);
        return tried === MAX_RETRIED ? 0 : MINUTE_MS;
      },
    },
    {
      ...common,
      name: 'payment_reconciliation',
      isEnabled: receivesPayments && paddleApi !== null,
      intervalMs: HOUR_MS,
      event: 'payments.reconciliation',
      action: "read Paddle's log of events",
      run: async (signal) => {
        const reconciliation = await reconcilePaddle(deps, { actor: 'latchkey', signal });
        return reconciliation?.reachedEnd === false ? 0 : HOUR_MS;
      },
    },
    {
      ...common,
      name: 'gumroad_reconciliation',
      isEnabled: receivesPayments && gumroadApi !== null,
      intervalMs: HOUR_MS,
      event: 'payments.gumroad_reconciliation',
      action: "read Gumroad's list of sales",
      run: async (signal) => {
        await reconcileGumroad(deps, { actor: 'latchkey', signal });
        return HOUR_MS;
      },
    },
    {
      ...common,
      name: 'revenue_roll_up',
      intervalMs: REVENUE_INTERVAL_MS,
      timeoutMs: 2 * MINUTE_MS,
      event: 'payments.revenue_roll_up',
      action: 'add payments to revenue',
      run: async (signal) => {
        await rollUpDueRevenue(deps, signal);
        const isDone = await backfillRevenue(deps, { signal, maxPages: BACKFILL_PAGES });
        return isDone ? REVENUE_INTERVAL_MS : 0;
      },
    },
    {
      ...common,
      // Also without a configured provider: bodies of earlier events may be stored.
      name: 'payment_body_removal',
      intervalMs: HOUR_MS,
      event: 'payments.body_removal',
      action: 'remove old bodies of payment events',
      run: (signal) => removeOldEventBodies(deps, signal),
    },
  ];
}

const BATCH_ROWS = 1_000;

/**
 * Removes the bodies of payment events that are older than `LATCHKEY_BILLING_RAW_KEEP_DAYS`. A body cannot be restored, so
 * its age counts by the slower clock, of the service or of the database.
 */
async function removeOldEventBodies(
  { clock, config, pool, readDatabaseTime }: BillingDependencies,
  signal: AbortSignal,
): Promise<void> {
  const [own, databases] = [clock.now(), await readDatabaseTime(pool)];
  const now = databases < own ? databases : own;
  const before = new Date(now.getTime() - config.billing.rawKeepDays * DAY_MS);
  await deleteInBatches(signal, BATCH_ROWS, (limit) => removeEventBodies(pool, before, now, limit));
}
