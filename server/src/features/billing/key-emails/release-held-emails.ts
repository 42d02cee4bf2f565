import type { Context } from '#server/context.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { queueKeyEmails, queueCustomerLookUps } from '../queue-jobs.ts';
import { listCustomersWithoutAddress } from './customer-queries.ts';
import { listWaitingKeyEmails, releaseKeyEmails } from './waiting-queries.ts';

/** What queueing needs of the context. */
type ReleaseDependencies = Pick<Context, 'log' | 'mail' | 'paddleApi' | 'pool'>;

/** HeldEmailRelease that is under way. */
interface HeldEmailRelease {
  readonly done: Promise<void>;
  /** Ends it after the page that is under way. */
  stop(): Promise<void>;
}

/**
 * Queues, beside the requests, what waited for a setting that is there now: e-mails for mail, look-ups of their buyers for
 * an API key. What is not reached, or fails, waits for the next start.
 */
export function releaseHeldEmails(ctx: ReleaseDependencies): HeldEmailRelease {
  const stopping = new AbortController();
  const done = queueWaiting(ctx, stopping.signal);
  return {
    done,
    async stop() {
      stopping.abort();
      await done;
    },
  };
}

/** Never throws: nobody waits for it. */
async function queueWaiting(ctx: ReleaseDependencies, stopping: AbortSignal): Promise<void> {
  const { log } = ctx;
  try {
    const mails = await releaseEmailsWithoutMail(ctx, stopping);
    if (mails > 0)
      log.info({ queued: mails }, 'e-mails that waited for mail to be configured are sent');
    const lookUps = await queueLookUpsWithoutAddress(ctx, stopping);
    if (lookUps > 0)
      log.info({ queued: lookUps }, 'buyers whose address is not known are looked up');
  } catch (error) {
    log.warn({ err: error }, 'what waits for mail or for an address could not be queued');
  }
}

const MAX_AT_ONCE = 1_000;

/** Has sent what waited for mail to be configured, now that it is. Gives how many there were. */
export async function releaseEmailsWithoutMail(
  { pool, mail }: Pick<ReleaseDependencies, 'mail' | 'pool'>,
  stopping?: AbortSignal,
): Promise<number> {
  if (mail === null) return 0;
  let queued = 0;
  for (let count = MAX_AT_ONCE; count === MAX_AT_ONCE && !isAborted(stopping); queued += count) {
    count = await inTransaction(pool, async (client) => {
      const waiting = await listWaitingKeyEmails(client, 'no_mail', MAX_AT_ONCE);
      await releaseKeyEmails(client, waiting);
      await queueKeyEmails(client, waiting);
      return waiting.length;
    });
  }
  return queued;
}

/**
 * Has the buyers looked up whose e-mails wait for an address, where the provider can be asked. Gives how many there were.
 * Those of whom the provider told nothing before are asked for again: the key may have been one for tests.
 */
export async function queueLookUpsWithoutAddress(
  { pool, paddleApi }: Pick<ReleaseDependencies, 'paddleApi' | 'pool'>,
  stopping?: AbortSignal,
): Promise<number> {
  if (paddleApi === null) return 0;
  let queued = 0;
  let last: string | undefined = '';
  while (last !== undefined && !isAborted(stopping)) {
    const customers = await listCustomersWithoutAddress(pool, 'paddle', last, MAX_AT_ONCE);
    await queueCustomerLookUps(pool, customers);
    queued += customers.length;
    last = customers.at(-1)?.customerId;
  }
  return queued;
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}
