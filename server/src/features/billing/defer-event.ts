import type { Context } from '#server/context.ts';
import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';

import type { Receipt } from './apply-events.ts';
import { MalformedEventError } from './providers/adapter.ts';
import {
  insertEvents,
  updateEventOutcomes,
  type EventOutcome,
  type KeptEvent,
} from './queries/events.ts';
import { nextAttempt } from './rules/next-attempt.ts';

/** What a sender is told, whatever the cause: that is for the operator. */
const DEFERRED: Receipt = {
  status: 'deferred',
  message: 'The event is kept, and is applied later.',
};

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
    await recordFailure(ctx, client, { eventId, provider, type, occurredAt, attempts: 1 }, cause);
    ctx.log.error({ err: cause, eventId, provider }, 'an event of a payment provider was deferred');
    return DEFERRED;
  });
}

/** An event that could not be applied, and how often that was tried. */
type FailedEvent = Pick<EventOutcome, 'eventId' | 'provider' | 'type' | 'occurredAt'> & {
  readonly attempts: number;
};

/** Writes down why a kept event could not be applied, with the time of the next try while there is hope. */
export async function recordFailure(
  { clock }: Pick<Context, 'clock'>,
  client: Queryable,
  { attempts, ...event }: FailedEvent,
  cause: unknown,
): Promise<EventOutcome> {
  const isHopeless = cause instanceof MalformedEventError;
  const nextAttemptAt = isHopeless ? null : nextAttempt(clock.now(), attempts);
  const status = nextAttemptAt === null ? 'failed' : 'deferred';
  const outcome = { ...event, status, message: explainFailure(cause), nextAttemptAt } as const;
  await updateEventOutcomes(client, [outcome]);
  return outcome;
}

function explainFailure(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : String(cause);
  return text.replaceAll('\0', '').slice(0, 1_000);
}
