import { createHash } from 'node:crypto';

import type { Context } from '#server/context.ts';
import { inTransaction } from '#server/db/transaction.ts';
import { PublicError, type InvalidRequestError } from '#server/errors.ts';

import { keepHeaders } from './keep-headers.ts';
import type { WebhookDelivery } from './providers/adapter.ts';
import { insertEvents, updateEventOutcomes } from './queries/events.ts';

/** The type under which a delivery is kept that says none. */
export const UNREADABLE_TYPE = 'unreadable';

/**
 * Keeps a delivery that is well signed and of which not even an event's id can be read; once, under the hash of its body.
 * It is given up at once: its sender is told what is wrong, and the operator finds it.
 * @param cause what its sender is told
 */
export async function keepUnreadable(
  { pool, clock, log }: Pick<Context, 'pool' | 'clock' | 'log'>,
  provider: string,
  { headers, rawBody }: WebhookDelivery,
  cause: PublicError | InvalidRequestError,
): Promise<void> {
  const now = clock.now();
  const hash = createHash('sha256').update(rawBody).digest('hex');
  const about = {
    eventId: `${UNREADABLE_TYPE}:${hash}`,
    provider,
    type: UNREADABLE_TYPE,
    occurredAt: now,
  };
  const kept = { ...about, receivedAt: now, raw: rawBody, headers: keepHeaders(headers) };
  const message = `It cannot be read: ${explain(cause)}`;
  await inTransaction(pool, async (client) => {
    const inserted = await insertEvents(client, [kept]);
    if (inserted.length === 0) return;
    await updateEventOutcomes(client, [
      { ...about, status: 'failed', message, nextAttemptAt: null },
    ]);
    log.error(
      { eventId: about.eventId, provider, message },
      'a well signed webhook cannot be read',
    );
  });
}

function explain(cause: PublicError | InvalidRequestError): string {
  return cause instanceof PublicError ? cause.detail : (cause.items[0]?.msg ?? cause.message);
}
