import type { Logger } from 'pino';

import type { EndpointDependencies } from './add-endpoint.ts';
import {
  claimDeliveries,
  recordAttempt,
  type AttemptResult,
  type ClaimedDelivery,
} from './queries/deliveries.ts';
import { recordEndpointFailure, recordEndpointSuccess } from './queries/endpoints.ts';
import { FAILURE_MEMORY_MS, MAX_FAILING_MS, nextAttemptAt } from './rules/retry.ts';
import { openSecrets } from './secrets.ts';
import { SEND_TIMEOUT_MS, sendMessage, type SendOutcome } from './send-message.ts';

export interface DeliveryDependencies extends EndpointDependencies {
  readonly log: Logger;
  /** From 0 to 1. Default: `Math.random`. */
  readonly random?: () => number;
  /** Default: ten seconds. */
  readonly sendTimeoutMs?: number;
}

/** Longer than a delivery can take: a process whose lease expired was killed. */
const LEASE_MS = 6 * SEND_TIMEOUT_MS;

/** 410 Gone: the receiver has unsubscribed (Standard Webhooks). */
const GONE = 410;

/**
 * Claims due deliveries. An attempt is counted before it starts, so that a delivery that crashes the process is not repeated
 * forever.
 * @param inProgress the deliveries of this process in progress, by endpoint
 */
export function claimDueDeliveries(
  deps: DeliveryDependencies,
  maxPerEndpoint: number,
  inProgress: ReadonlyMap<string, number>,
): Promise<ClaimedDelivery[]> {
  const now = deps.clock.now();
  const leasedUntil = new Date(now.getTime() + LEASE_MS);
  return claimDeliveries(deps.pool, { now, leasedUntil, maxPerEndpoint, inProgress });
}

/**
 * Sends a message to an endpoint and records the outcome. If the process ends in between, the message is sent again with the
 * same id: at least once.
 */
export async function attemptDelivery(
  deps: DeliveryDependencies,
  delivery: ClaimedDelivery,
  stopping?: AbortSignal,
): Promise<void> {
  const outcome = await send(deps, delivery, stopping);
  // Interrupted by the stop: another process sends it when its lease expires.
  if (!outcome.delivered && stopping?.aborted === true) return;
  const now = deps.clock.now();
  await recordAttempt(deps.pool, delivery, toResult(deps, delivery, outcome, now));
  if (outcome.delivered) await recordEndpointSuccess(deps.pool, delivery.endpointId);
  else await recordFailure(deps, delivery, outcome, now);
}

async function send(
  deps: DeliveryDependencies,
  delivery: ClaimedDelivery,
  stopping: AbortSignal | undefined,
): Promise<SendOutcome> {
  const now = deps.clock.now();
  const message = { id: delivery.messageId, payload: delivery.payload };
  const secrets = openOrNull(deps, delivery, now);
  if (secrets === null) {
    const error = 'the master secret does not open the signing secret';
    return {
      delivered: false,
      status: null,
      durationMs: 0,
      error,
      answer: null,
      retryAfterMs: null,
    };
  }
  const { sendTimeoutMs: timeoutMs } = deps;
  return sendMessage(deps.webhookClient, delivery.url, message, secrets, now, {
    timeoutMs,
    stopping,
  });
}

function openOrNull(
  deps: DeliveryDependencies,
  delivery: ClaimedDelivery,
  now: Date,
): string[] | null {
  try {
    return openSecrets(deps.vault, { ...delivery, id: delivery.endpointId }, now);
  } catch {
    // Recorded as the error of the delivery; an exception would delay other deliveries.
    return null;
  }
}

function toResult(
  deps: DeliveryDependencies,
  { attempts }: ClaimedDelivery,
  { delivered, status, durationMs, error, answer, retryAfterMs }: SendOutcome,
  now: Date,
): AttemptResult {
  const common = { status, durationMs, error, answer };
  if (delivered) return { ...common, state: 'delivered', nextAttemptAt: null };
  const random = (deps.random ?? Math.random)();
  const next = status === GONE ? null : nextAttemptAt(attempts, retryAfterMs, now, random);
  return { ...common, state: next === null ? 'failed' : 'pending', nextAttemptAt: next };
}

async function recordFailure(
  deps: DeliveryDependencies,
  { endpointId, url, messageId, attempts }: ClaimedDelivery,
  { status, error }: SendOutcome,
  now: Date,
): Promise<void> {
  const fields = { endpointId, host: new URL(url).host, status, reason: error };
  deps.log.debug(
    { event: 'webhooks.delivery_failed', ...fields, messageId, attempts },
    'could not deliver webhook',
  );
  const isGone = status === GONE;
  const disabled = await recordEndpointFailure(deps.pool, endpointId, {
    failedAt: now,
    isGone,
    failingLimit: new Date(now.getTime() - MAX_FAILING_MS),
    forgottenBefore: new Date(now.getTime() - FAILURE_MEMORY_MS),
  });
  if (disabled === null) return;
  deps.eventSubscriptions.invalidate();
  const cause = isGone ? 'it answered 410 Gone' : 'it has failed for five days';
  deps.log.error(
    { event: 'webhooks.endpoint_disabled', ...fields },
    `disabled webhook endpoint: ${cause}; to enable it: latchkey endpoint enable`,
  );
}
