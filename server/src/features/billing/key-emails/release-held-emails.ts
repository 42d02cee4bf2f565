import type { Pool } from 'pg';
import type { Logger } from 'pino';

import { inTransaction } from '#server/db/transaction.ts';
import type { MailTransport } from '#server/mail/mail-transport.ts';

import type { PaddleApi } from '../providers/paddle/paddle-api.ts';
import { queueCustomerLookUps, queueKeyEmails } from '../queue-jobs.ts';
import { listWaitingKeyEmails, releaseKeyEmails } from './backlog-queries.ts';
import { listCustomersWithoutAddress } from './buyer-queries.ts';

interface ReleaseDependencies {
  readonly log: Logger;
  readonly mail: MailTransport | null;
  readonly paddleApi: PaddleApi | null;
  readonly pool: Pool;
}

interface HeldEmailRelease {
  readonly done: Promise<void>;
  /** Stops after the current page. */
  stop(): Promise<void>;
}

/**
 * Queues in the background what waited for a setting: e-mails for a mail relay, look-ups of their buyers for an API key.
 * The rest is queued at the next start of the service, also after an error.
 */
export function releaseHeldEmails(deps: ReleaseDependencies): HeldEmailRelease {
  const stopping = new AbortController();
  const done = release(deps, stopping.signal);
  return {
    done,
    async stop() {
      stopping.abort();
      await done;
    },
  };
}

/** Never throws, because no caller waits for it. */
async function release(deps: ReleaseDependencies, stopping: AbortSignal): Promise<void> {
  const { log } = deps;
  try {
    const queued = await releaseEmailsWithoutMail(deps, stopping);
    if (queued > 0) {
      log.info(
        { event: 'mail.held_emails_released', queued },
        'queued e-mails held without mail relay',
      );
    }
    const lookUps = await queueLookUpsWithoutAddress(deps, stopping);
    if (lookUps > 0) {
      log.info(
        { event: 'billing.look_ups_queued', queued: lookUps },
        'queued look-ups of buyers without an address',
      );
    }
  } catch (error) {
    log.warn({ event: 'mail.release_failed', err: error }, 'could not queue held e-mails');
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
