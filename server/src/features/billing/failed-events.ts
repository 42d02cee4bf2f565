import { createHash } from 'node:crypto';

import type { Context } from '#server/context.ts';
import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';
import { PublicError, type InvalidRequestError } from '#server/errors.ts';

import type { Receipt } from './apply-events.ts';
import { MalformedEventError } from './providers/adapter.ts';
import {
  insertEvents,
  updateEventOutcomes,
  type EventOutcome,
  type StoredEvent,
} from './queries/events.ts';

/** What a sender is told: what is wrong with the event itself, while any other cause is the operator's to know. */
function toReceipt(cause: unknown): Receipt {
  const message =
    cause instanceof MalformedEventError
      ? `The event is kept; it is not what its type promises: ${cause.message}`
      : 'The event is kept, and is applied later.';
  return { status: 'deferred', message };
}

type DeferContext = Pick<Context, 'pool' | 'clock' | 'log'>;

/**
 * Keeps an event that cannot be applied now, in a transaction of its own. It is tried again later; one that does not say
 * what its type promises would fail each time, and waits for the operator.
 * @param cause why it cannot be applied
 */
export async function storeDeferredEvent(
  ctx: DeferContext,
  kept: StoredEvent,
  cause: unknown,
): Promise<Receipt> {
  const { eventId, provider, type, occurredAt } = kept;
  return inTransaction(ctx.pool, async (client) => {
    const inserted = await insertEvents(client, [kept]);
    if (inserted.length === 0) return { status: 'duplicate', message: null };
    const event = { eventId, provider, type, occurredAt, attempts: 1 };
    const failed = await recordFailure(ctx, client, event, cause);
    const { status } = failed;
    ctx.log.error({ err: cause, eventId, provider, status }, 'an event could not be applied');
    return toReceipt(cause);
  });
}

/** An event that could not be applied, and how often that was tried. */
type FailedEvent = Required<
  Pick<EventOutcome, 'eventId' | 'provider' | 'type' | 'occurredAt' | 'attempts'>
>;

/** Writes down why a kept event could not be applied, with the time of the next try while there is hope. */
export async function recordFailure(
  { clock }: Pick<Context, 'clock'>,
  client: Queryable,
  event: FailedEvent,
  cause: unknown,
): Promise<EventOutcome> {
  const isHopeless = cause instanceof MalformedEventError;
  const nextAttemptAt = isHopeless ? null : nextAttempt(clock.now(), event.attempts);
  const status = nextAttemptAt === null ? 'failed' : 'deferred';
  const outcome = { ...event, status, message: explainFailure(cause), nextAttemptAt } as const;
  await updateEventOutcomes(client, [outcome]);
  return outcome;
}

function explainFailure(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : String(cause);
  return text.replaceAll('\0', '').slice(0, 1_000);
}

/** The type under which a delivery is kept that says none. */
export const UNREADABLE_TYPE = 'unreadable';

/**
 * Keeps a delivery that is well signed and of which not even an event's id can be read; once, under the hash of its body.
 * It is given up at once: its sender is told what is wrong, and the operator finds it.
 * @param cause what its sender is told
 */
export async function storeUnreadableDelivery(
  { pool, clock, log }: Pick<Context, 'pool' | 'clock' | 'log'>,
  provider: string,
  delivery: Pick<StoredEvent, 'raw' | 'headers'>,
  cause: PublicError | InvalidRequestError,
): Promise<void> {
  const now = clock.now();
  const hash = createHash('sha256').update(delivery.raw).digest('hex');
  const about = {
    eventId: `${UNREADABLE_TYPE}:${hash}`,
    provider,
    type: UNREADABLE_TYPE,
    occurredAt: now,
  };
  const kept = { ...about, ...delivery, receivedAt: now };
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

const MINUTE_MS = 60_000;

/** After about four days of tries an event is given up. */
const MAX_ATTEMPTS = 14;

/** A try comes at the latest so long after the one before. */
const LONGEST_PAUSE_MINUTES = 12 * 60;

/**
 * When an event that could not be applied is tried again: after a minute, then two, four and so on, up to twelve hours;
 * null when it was tried often enough.
 * @param attempts how often it was tried, at least once
 */
function nextAttempt(now: Date, attempts: number): Date | null {
  if (attempts >= MAX_ATTEMPTS) return null;
  const minutes = Math.min(2 ** (attempts - 1), LONGEST_PAUSE_MINUTES);
  return new Date(now.getTime() + minutes * MINUTE_MS);
}
