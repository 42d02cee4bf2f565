import { inTransaction } from '#server/db/transaction.ts';
import type { BackgroundTask } from '#server/jobs/background-task.ts';

import type { BillingDependencies } from '../dependencies.ts';
import { queueCustomerLookUps, queueKeyEmails } from '../queue-jobs.ts';
import { listWaitingKeyEmails, releaseKeyEmails } from './backlog-queries.ts';
import { listCustomersWithoutAddress } from './buyer-queries.ts';

type ReleaseDependencies = Pick<BillingDependencies, 'log' | 'mail' | 'paddleApi' | 'pool'>;

/** After the start, queues what waited for a setting that is present now; what it does not reach waits for the next start. */
export function createReleaseTask(deps: ReleaseDependencies): BackgroundTask {
  return {
    name: 'release_held_emails',
    scope: 'process',
    firstRunMs: 0,
    intervalMs: Infinity,
    timeoutMs: 60 * 60_000,
    event: 'mail.release',
    action: 'queue e-mails that waited for mail or an address',
    run: (signal) => releaseHeldEmails(deps, signal),
  };
}

async function releaseHeldEmails(deps: ReleaseDependencies, signal: AbortSignal): Promise<void> {
  const { log } = deps;
  const emails = await releaseEmailsWithoutMail(deps, signal);
  if (emails > 0) {
    const fields = { event: 'mail.held_emails_released', queued: emails };
    log.info(fields, 'queued e-mails held without mail relay');
  }
  const lookUps = await queueLookUpsWithoutAddress(deps, signal);
  if (lookUps > 0) {
    const fields = { event: 'payments.look_ups_queued', queued: lookUps };
    log.info(fields, 'queued look-ups of buyers without an address');
  }
}

const PAGE_SIZE = 1_000;

/** Queues the e-mails that waited for a mail relay, if there is one, and returns their number. */
export async function releaseEmailsWithoutMail(
  { pool, mail }: Pick<ReleaseDependencies, 'mail' | 'pool'>,
  stopping?: AbortSignal,
): Promise<number> {
  if (mail === null) return 0;
  let queued = 0;
  for (let count = PAGE_SIZE; count === PAGE_SIZE && !isAborted(stopping); queued += count) {
    count = await inTransaction(pool, async (client) => {
      const waiting = await listWaitingKeyEmails(client, 'no_mail', PAGE_SIZE);
      await releaseKeyEmails(client, waiting);
      await queueKeyEmails(client, waiting);
      return waiting.length;
    });
  }
  return queued;
}

/**
 * Queues look-ups of the buyers whose e-mails wait for an address, if there is an API key, and returns their number. Buyers
 * that were not found before are looked up again, because the key may have been one of the sandbox.
 */
export async function queueLookUpsWithoutAddress(
  { pool, paddleApi }: Pick<ReleaseDependencies, 'paddleApi' | 'pool'>,
  stopping?: AbortSignal,
): Promise<number> {
  if (paddleApi === null) return 0;
  let queued = 0;
  let last: string | undefined = '';
  while (last !== undefined && !isAborted(stopping)) {
    const customers = await listCustomersWithoutAddress(pool, 'paddle', last, PAGE_SIZE);
    await queueCustomerLookUps(pool, customers);
    queued += customers.length;
    last = customers.at(-1)?.customerId;
  }
  return queued;
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}
