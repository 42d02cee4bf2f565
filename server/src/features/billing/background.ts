import type { BackgroundTask } from '#server/jobs/background-task.ts';
import { defineJobHandler, type JobHandler } from '#server/jobs/job-queue.ts';

import { sendKeyEmail } from './key-emails/send-key-email.ts';
import { sendReplacedKey } from './key-emails/send-replaced-key.ts';
import { lookUpCustomer } from './look-up-customer.ts';
import { reconcilePaddle } from './reconcile.ts';
import { removeOldEventBodies } from './remove-old-bodies.ts';
import type { WebhookSecrets } from './providers/adapters.ts';
import { retryDueEvents } from './replay-events.ts';

type JobDependencies = Parameters<typeof sendKeyEmail>[0] &
  Parameters<typeof sendReplacedKey>[0] &
  Parameters<typeof lookUpCustomer>[0];

type TaskDependencies = Parameters<typeof retryDueEvents>[0] &
  Parameters<typeof reconcilePaddle>[0] &
  Parameters<typeof removeOldEventBodies>[0] & { readonly webhookSecrets: WebhookSecrets };

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** In one run; when there are more the next run starts at once. */
const MAX_RETRIED = 100;

export function createBillingJobs(deps: JobDependencies): readonly JobHandler[] {
  return [
    defineJobHandler('send_key_email', (name, signal) => sendKeyEmail(deps, name, signal)),
    defineJobHandler('send_replaced_key', (about, signal) => sendReplacedKey(deps, about, signal)),
    defineJobHandler('look_up_customer', (name, signal) => lookUpCustomer(deps, name, signal)),
  ];
}

export function createBillingTasks(deps: TaskDependencies): readonly BackgroundTask[] {
  const { paddleApi, webhookSecrets } = deps;
  const receivesPayments = Object.values(webhookSecrets).some((secrets) => secrets.length > 0);
  const common = { scope: 'singleton', failureLevel: 'error' } as const;
  return [
    {
      ...common,
      name: 'retry_webhooks',
      isEnabled: receivesPayments,
      intervalMs: MINUTE_MS,
      event: 'payments.retry',
      action: 'retry payment events that could not be applied',
      run: async () => {
        const tried = await retryDueEvents(deps, MAX_RETRIED);
        return tried === MAX_RETRIED ? 0 : MINUTE_MS;
      },
    },
    {
      ...common,
      name: 'reconcile_payments',
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
      // Also where no payments are taken any more: bodies of earlier ones may be stored.
      name: 'remove_old_event_bodies',
      intervalMs: HOUR_MS,
      event: 'payments.body_removal',
      action: 'remove old bodies of payment events',
      run: (signal) => removeOldEventBodies(deps, signal),
    },
  ];
}
