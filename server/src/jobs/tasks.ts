import type { Context } from '#server/context.ts';
import { sendKeyEmail } from '#server/features/billing/key-emails/send-key-email.ts';
import { sendReplacedKey } from '#server/features/billing/key-emails/send-replaced-key.ts';
import { reconcilePayments, retryWebhooks } from '#server/features/billing/recurring-jobs.ts';
import { lookUpCustomer } from '#server/features/billing/look-up-customer.ts';
import { removeOldEventBodies } from '#server/features/billing/remove-old-bodies.ts';
import { forgetOld } from '#server/features/subscribers/forget-old.ts';
import { sendConfirmation } from '#server/features/subscribers/send-confirmation.ts';
import { deleteOldOutreach } from '#server/features/outreach/delete-old-outreach.ts';

import { defineTask, type Task } from './task.ts';

/** How every kind of job is done. */
export function createTasks(ctx: Context): readonly Task[] {
  return [
    defineTask('send_key_email', (name, signal) => sendKeyEmail(ctx, name, signal)),
    defineTask('send_replaced_key', (about, signal) => sendReplacedKey(ctx, about, signal)),
    defineTask('look_up_customer', (name, signal) => lookUpCustomer(ctx, name, signal)),
    defineTask('send_confirmation', (about, signal) => sendConfirmation(ctx, about, signal)),
    defineTask('retry_webhooks', () => retryWebhooks(ctx)),
    defineTask('reconcile_payments', (_none, signal) => reconcilePayments(ctx, signal)),
    defineTask('remove_old_event_bodies', (_none, signal) => removeOldEventBodies(ctx, signal)),
    defineTask('forget_old_subscribers', (_none, signal) => forgetOld(ctx, signal)),
    defineTask('delete_old_outreach', (_none, signal) => deleteOldOutreach(ctx, signal)),
  ];
}
