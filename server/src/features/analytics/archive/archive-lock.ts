import type { Pool, PoolClient } from 'pg';

import { sendQuery } from '#server/db/send-query.ts';
import { inTransactionOnce } from '#server/db/transaction.ts';

import { allowIdleTransaction, tryLock } from '../queries/transactions.ts';
import { ArchiveError } from './archive-error.ts';
import type { EventArchive } from './event-archive.ts';

/** Shorter than the idle time after which firewalls and NAT gateways forget a connection. */
const PING_INTERVAL_MS = 15_000;

/** The lock of a run. The database releases it when the connection ends. */
export interface ArchiveLock {
  /** @throws ArchiveError when the connection of the lock was lost, so that another run may hold the lock */
  requireHeld(): Promise<void>;
}

/**
 * Runs work while no other process archives events of this database. A transaction holds the lock on a connection of its own, so
 * that it works through a pooler, too; an idle transaction has no snapshot, and does not delay a vacuum.
 * @throws ArchiveError when another process has the lock
 */
export async function withArchiveLock<Result>(
  {
    archive,
    pool,
  }: { readonly archive: Pick<EventArchive, 'removeLeftovers'>; readonly pool: Pool },
  work: (lock: ArchiveLock) => Promise<Result>,
): Promise<Result> {
  let done: { readonly result: Result } | undefined;
  const run = async (client: PoolClient): Promise<void> => {
    await allowIdleTransaction(client);
    if ((await tryLock(client, 'archive')) === null) {
      throw new ArchiveError('Events are being archived already: wait until that is done.');
    }
    await using lock = new PingedLock(client);
    await archive.removeLeftovers();
    done = { result: await work(lock) };
  };
  try {
    await inTransactionOnce(pool, run);
  } catch (error) {
    // A connection that is lost after the work changes nothing.
    if (done === undefined) throw error;
  }
  if (done === undefined) throw new Error('the transaction ended without its work');
  return done.result;
}

class PingedLock implements ArchiveLock, AsyncDisposable {
  readonly #client: PoolClient;
  readonly #timer: NodeJS.Timeout;
  /** One after the other, because a connection runs one statement at a time. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(client: PoolClient) {
    this.#client = client;
    // A lost connection is reported by the next check of the work.
    const ping = (): void => void this.requireHeld().catch(() => undefined);
    this.#timer = setInterval(ping, PING_INTERVAL_MS);
  }

  async requireHeld(): Promise<void> {
    this.#last = this.#last.then(() => sendQuery(this.#client, { text: 'select 1' }));
    try {
      await this.#last;
    } catch (error) {
      throw new ArchiveError(
        'The database connection that holds the lock of the archive was lost: run the command again.',
        { cause: error },
      );
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#last.catch(() => undefined);
  }
}
