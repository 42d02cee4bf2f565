import type { Context } from '#server/context.ts';
import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';

import type { Receipt } from './received-event.ts';
import { MalformedEventError } from './providers/adapter.ts';
import {
  insertEvents,
  updateEventOutcomes,
  type EventOutcome,
  type KeptEvent,
} from './queries/events.ts';
import { nextAttempt } from './rules/next-attempt.ts';

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
export async function deferEvent(
  ctx: DeferContext,
  kept: KeptEvent,
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
