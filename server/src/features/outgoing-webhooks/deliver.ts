import type { Context } from '#server/context.ts';

import {
  claimDeliveries,
  recordAttempt,
  type AttemptResult,
  type ClaimedDelivery,
} from './queries/deliveries.ts';
import { recordEndpointFailure, recordEndpointSuccess } from './queries/endpoints.ts';
import { FAILURES_APART_MS, GIVE_UP_AFTER_MS, nextAttemptAt } from './rules/retry.ts';
import { openSecrets } from './secrets.ts';
import { SEND_TIMEOUT_MS, sendMessage, type SendOutcome } from './send-message.ts';

/** What delivering needs of the context. */
export interface DeliveryContext extends Pick<
  Context,
  'clock' | 'log' | 'pool' | 'vault' | 'wantedEvents'
> {
  /** From 0 to 1; default: `Math.random`. */
  readonly random?: () => number;
  /** Default: ten seconds. */
  readonly sendTimeoutMs?: number;
}

/** Longer than a delivery can take: whoever has it for this long is gone, and it is due again. */
const CLAIM_TIMEOUT_MS = 6 * SEND_TIMEOUT_MS;

/** 410 Gone: the receiver wants nothing more (Standard Webhooks). */
const GONE = 410;

/**
 * Takes deliveries that are due. Each attempt is counted before it is made, so that one which ends the process is not
 * made for ever.
 * @param inProgress the deliveries of this process in progress, by endpoint
 */
export function claimDueDeliveries(
  ctx: DeliveryContext,
  maxPerEndpoint: number,
  inProgress: ReadonlyMap<string, number>,
): Promise<ClaimedDelivery[]> {
  const now = ctx.clock.now();
  const expiresAt = new Date(now.getTime() + CLAIM_TIMEOUT_MS);
  return claimDeliveries(ctx.pool, { now, expiresAt, maxPerEndpoint, inProgress });
}

/**
 * Sends a message to an endpoint and writes down what came of it. When the process ends in between, it is sent again
 * under the same id: at least once, never not at all.
 */
export async function attemptDelivery(
  ctx: DeliveryContext,
  delivery: ClaimedDelivery,
  stopping?: AbortSignal,
): Promise<void> {
  const outcome = await send(ctx, delivery, stopping);
  // Interrupted by the stop: another process sends it when its lease expires.
  if (!outcome.delivered && stopping?.aborted === true) return;
  const now = ctx.clock.now();
  await recordAttempt(ctx.pool, delivery, judge(ctx, delivery, outcome, now));
  if (outcome.delivered) await recordEndpointSuccess(ctx.pool, delivery.endpointId);
  else await noteFailure(ctx, delivery, outcome, now);
}

async function send(
  ctx: DeliveryContext,
  delivery: ClaimedDelivery,
  stopping: AbortSignal | undefined,
): Promise<SendOutcome> {
  const now = ctx.clock.now();
  const message = { id: delivery.messageId, payload: delivery.payload };
  const secrets = openOrNull(ctx, delivery, now);
  if (secrets === null) {
    const error = 'the master secret does not open the signing secret';
    return { delivered: false, status: null, durationMs: 0, error, retryAfterMs: null };
  }
  const { sendTimeoutMs: timeoutMs } = ctx;
  return sendMessage(delivery.url, message, secrets, now, { timeoutMs, stopping });
}

function openOrNull(ctx: DeliveryContext, delivery: ClaimedDelivery, now: Date): string[] | null {
  try {
    return openSecrets(ctx.vault, { ...delivery, id: delivery.endpointId }, now);
  } catch {
    // Told in the delivery's own row; an exception would keep the other deliveries waiting.
    return null;
  }
}

function judge(
  ctx: DeliveryContext,
  { attempts }: ClaimedDelivery,
  { delivered, status, durationMs, error, retryAfterMs }: SendOutcome,
  now: Date,
): AttemptResult {
  const seen = { status, durationMs, error };
  if (delivered) return { ...seen, state: 'delivered', nextAttemptAt: null };
  const random = (ctx.random ?? Math.random)();
  const next = status === GONE ? null : nextAttemptAt(attempts, retryAfterMs, now, random);
  return { ...seen, state: next === null ? 'failed' : 'pending', nextAttemptAt: next };
}

async function noteFailure(
  ctx: DeliveryContext,
  { endpointId, url, messageId, attempts }: ClaimedDelivery,
  { status, error }: SendOutcome,
  now: Date,
): Promise<void> {
  const about = { endpointId, host: new URL(url).host, status, reason: error };
  ctx.log.debug({ ...about, messageId, attempts }, 'a webhook was not delivered');
  const isGone = status === GONE;
  const disabled = await recordEndpointFailure(ctx.pool, endpointId, {
    failedAt: now,
    isGone,
    failingLimit: new Date(now.getTime() - GIVE_UP_AFTER_MS),
    forgottenBefore: new Date(now.getTime() - FAILURES_APART_MS),
  });
  if (disabled === null) return;
  ctx.wantedEvents.invalidate();
  const why = isGone ? 'it answered 410 Gone' : 'it only failed for five days';
  ctx.log.error(about, `a webhook endpoint was disabled: ${why}; latchkey endpoint enable`);
}
