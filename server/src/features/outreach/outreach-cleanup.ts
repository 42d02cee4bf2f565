import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import { deleteInBatches } from '#server/db/delete-in-batches.ts';
import type { BackgroundTask } from '#server/jobs/background-task.ts';
import type { MailTransport } from '#server/mail/mail-transport.ts';

import { deleteOldIdempotencyKeys } from './queries/idempotency-keys.ts';
import { cancelCampaign } from './campaigns/control-campaign.ts';
import { listExpiredCampaigns } from './queries/campaigns.ts';
import { deleteOldMessages } from './queries/messages.ts';
import { deleteOldRecipients } from './queries/recipients.ts';
import { ANSWER_KEPT_MS } from './send-once.ts';

interface CleanupDependencies {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly outreachMail: MailTransport | null;
}

/** Operators can look up messages for this long, by message id or address; a campaign that did not end is canceled. */
export const MESSAGES_KEPT_MS = 30 * 24 * 60 * 60_000;

const BATCH_ROWS = 5_000;

/** Deletes expired responses to repeated requests, and old messages with their recipients. */
export function createOutreachCleanup(deps: CleanupDependencies): BackgroundTask {
  const { pool, clock, outreachMail } = deps;
  const ago = (milliseconds: number): Date => new Date(clock.now().getTime() - milliseconds);
  return {
    name: 'outreach_cleanup',
    scope: 'singleton',
    // Without mail, no new messages are stored.
    isEnabled: outreachMail !== null,
    intervalMs: 60 * 60_000,
    event: 'outreach.cleanup',
    action: 'delete old outreach messages',
    failureLevel: 'error',
    async run(signal) {
      await deleteInBatches(signal, BATCH_ROWS, (limit) =>
        deleteOldIdempotencyKeys(pool, ago(ANSWER_KEPT_MS), limit),
      );
      const before = ago(MESSAGES_KEPT_MS);
      for (const id of await listExpiredCampaigns(pool, before)) {
        await cancelCampaign(deps, id, { actor: 'latchkey', reason: 'started 30 days ago' });
      }
      await deleteInBatches(signal, BATCH_ROWS, (limit) => deleteOldMessages(pool, before, limit));
      await deleteInBatches(signal, BATCH_ROWS, (limit) =>
        deleteOldRecipients(pool, before, limit),
      );
    },
  };
}
