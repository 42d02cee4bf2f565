import type { Context } from '#server/context.ts';
import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';
import { addJobs } from '#server/jobs/add-job.ts';

import { listWaitingKeyEmails, releaseKeyEmails, type KeyEmailName } from './queries.ts';

/**
 * Has the keys of transactions sent to their buyers, when the caller's transaction is committed. Asked for again it does
 * no harm: what was sent is not sent again.
 * @param runAt not before this moment, unless it is asked for again
 */
export async function queueKeyEmails(
  db: Queryable,
  transactions: readonly KeyEmailName[],
  runAt?: Date,
): Promise<void> {
  await addJobs(
    db,
    transactions.map(({ provider, transactionId }) => ({
      name: 'send_key_email',
      payload: { provider, transactionId },
      key: `${provider}:${transactionId}`,
      ...(runAt === undefined ? {} : { runAt }),
    })),
  );
}

const MAX_AT_ONCE = 1_000;

/** Has sent what waited for mail to be configured, now that it is. Gives how many there were. */
export async function queueKeyEmailsWithoutMail(
  ctx: Pick<Context, 'pool' | 'mail'>,
): Promise<number> {
  if (ctx.mail === null) return 0;
  let queued = 0;
  for (;;) {
    const count = await inTransaction(ctx.pool, async (client) => {
      const waiting = await listWaitingKeyEmails(client, 'no_mail', MAX_AT_ONCE);
      await releaseKeyEmails(client, waiting);
      await queueKeyEmails(client, waiting);
      return waiting.length;
    });
    queued += count;
    if (count < MAX_AT_ONCE) return queued;
  }
}
