import { createHash } from 'node:crypto';

import type { Queryable } from '#server/db/statement.ts';
import { inTransactionOnce, retryConflicts } from '#server/db/transaction.ts';
import { PublicError, type InvalidRequestError } from '#server/errors.ts';

import type { ApplyDependencies } from './dependencies.ts';
import type { BillingProvider, EventHeader } from './facts.ts';
import { MalformedEventError } from './providers/adapter.ts';
import {
  insertEvents,
  updateEventOutcomes,
  type EventOutcome,
  type StoredDelivery,
  type StoredEvent,
} from './queries/events.ts';
import { DUPLICATE, type Receipt } from './received-event.ts';

type FailureDependencies = Pick<ApplyDependencies, 'clock' | 'log' | 'pool'>;

/**
 * Stores an event that cannot be applied now, in a transaction of its own, which the caller retries after a conflict. The
 * event is retried later, unless it is malformed.
 * @param cause why it cannot be applied
 */
export async function storeFailedEvent(
  { clock, log, pool }: FailureDependencies,
  event: StoredEvent,
  cause: unknown,
): Promise<Receipt> {
  const { eventId, provider, type } = event;
  return inTransactionOnce(pool, async (client) => {
    const [isNew] = await insertEvents(client, [event]);
    if (isNew !== true) return DUPLICATE;
    const { status } = await recordFailure(client, event, 1, cause, clock.now());
    const fields = { err: cause, eventId, provider, status };
    if (type === UNREADABLE_TYPE) {
      const message = 'could not read signed payment webhook';
      log.error({ event: 'payments.event_unreadable', ...fields }, message);
    } else {
      log.error({ event: 'payments.event_failed', ...fields }, 'could not apply payment event');
    }
    return { status: 'deferred', message: describeDeferral(cause) };
  });
}

/** Describes a malformed event to its sender; other causes concern the operator only. */
function describeDeferral(cause: unknown): string {
  return cause instanceof MalformedEventError
    ? `The event is stored; it does not match its type: ${cause.message}`
    : 'The event is stored and will be applied later.';
}

/**
 * Records why a stored event could not be applied, and when it is retried. A malformed event is not retried.
 * @param attempts including the failed one
 */
export async function recordFailure(
  client: Queryable,
  { eventId, provider, type, occurredAt }: EventHeader,
  attempts: number,
  cause: unknown,
  now: Date,
): Promise<EventOutcome> {
  const isPermanent = cause instanceof MalformedEventError;
  const nextAttemptAt = isPermanent ? null : computeNextAttempt(now, attempts);
  const outcome: EventOutcome = {
    eventId,
    provider,
    type,
    occurredAt,
    status: nextAttemptAt === null ? 'failed' : 'deferred',
    message: describeCause(cause),
    nextAttemptAt,
    attempts,
  };
  await updateEventOutcomes(client, [outcome]);
  return outcome;
}

function describeCause(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : String(cause);
  return text.replaceAll('\0', '').slice(0, 1_000);
}

const MINUTE_MS = 60_000;

/** About four days. */
export const MAX_ATTEMPTS = 14;

const MAX_DELAY_MINUTES = 12 * 60;

/** Exponential backoff: one minute, two, four and so on, up to twelve hours; null after the last attempt. */
function computeNextAttempt(now: Date, attempts: number): Date | null {
  if (attempts >= MAX_ATTEMPTS) return null;
  const minutes = Math.min(2 ** (attempts - 1), MAX_DELAY_MINUTES);
  return new Date(now.getTime() + minutes * MINUTE_MS);
}

/** The type of a stored delivery that is not a readable event. */
export const UNREADABLE_TYPE = 'unreadable';

/**
 * Stores a correctly signed delivery without a readable event id as failed, once, under the hash of its body, so that the
 * operator finds it.
 * @param delivery with the body as received, which names the event, and as it is stored
 * @param cause the error that is returned to the sender
 */
export async function storeUnreadableDelivery(
  deps: FailureDependencies,
  provider: BillingProvider,
  { rawBody, ...delivery }: Omit<StoredDelivery, 'receivedAt'> & { readonly rawBody: Buffer },
  cause: PublicError | InvalidRequestError,
): Promise<void> {
  const now = deps.clock.now();
  const hash = createHash('sha256').update(rawBody).digest('hex');
  const eventId = `${UNREADABLE_TYPE}:${hash}`;
  const header = { eventId, provider, type: UNREADABLE_TYPE, occurredAt: now, receivedAt: now };
  const detail = cause instanceof PublicError ? cause.detail : cause.items[0]?.msg;
  const problem = new MalformedEventError(`It cannot be read: ${detail ?? cause.message}`);
  await retryConflicts(() => storeFailedEvent(deps, { ...header, ...delivery }, problem));
}
