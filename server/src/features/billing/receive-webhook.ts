import type { IncomingHttpHeaders } from 'node:http';

import { isStorableText, type WebhookResponse } from '@latchkey/contract';

import type { Context } from '#server/context.ts';
import {
  billingNotConfigured,
  invalidRequest,
  InvalidRequestError,
  invalidSignature,
  PublicError,
  staleSignature,
  unknownProvider,
} from '#server/errors.ts';

import type { Receipt, ReceivedEvent } from './apply-events.ts';
import { storeDeferredEvent, storeUnreadableDelivery } from './failed-events.ts';
import {
  MalformedEventError,
  type BillingAdapter,
  type WebhookDelivery,
} from './providers/adapter.ts';
import { findAdapter } from './providers/adapters.ts';

const MAX_EVENT_ID_CHARACTERS = 200;

/** What is kept as the type of an event that does not tell it. */
const UNKNOWN_TYPE = 'unknown';

/**
 * Takes a delivery of a payment provider: the signature is judged first, then the body is read, and the event is kept and
 * applied before the answer.
 * @param provider as the path names it
 * @param readBody reads the body once the signature is found right
 * @throws unknownProvider (404), billingNotConfigured (503), invalidSignature, staleSignature (401)
 * @throws InvalidRequestError (422) for what is well signed and no event
 */
export async function receiveWebhook(
  ctx: Context,
  provider: string,
  delivery: WebhookDelivery,
  readBody: () => unknown,
): Promise<WebhookResponse> {
  const adapter = findAdapter(provider);
  if (adapter === undefined) throw unknownProvider();
  verify(ctx, adapter, delivery);
  const reading = await readOrKeep(ctx, adapter, delivery, readBody);
  const { eventId, receipt } = await take(ctx, reading);
  ctx.metrics.countWebhook(provider, receipt.status);
  return { status: receipt.status, message: receipt.message, event_id: eventId };
}

function verify(ctx: Context, adapter: BillingAdapter, delivery: WebhookDelivery): void {
  const { provider } = adapter;
  const secrets = ctx.webhookSecrets[provider];
  if (secrets.length === 0) {
    ctx.metrics.countRefusal(`webhook_${provider}`, 'not_configured');
    throw billingNotConfigured();
  }
  const verification = adapter.verify(delivery, {
    secrets,
    now: ctx.clock.now(),
    toleranceSeconds: ctx.config.billing.toleranceSeconds,
  });
  if (verification.ok) return;
  ctx.metrics.countRefusal(`webhook_${provider}`, `signature_${verification.reason}`);
  throw verification.reason === 'stale' ? staleSignature() : invalidSignature();
}

/** What cannot be read is kept all the same, before its sender is told so. */
async function readOrKeep(
  ctx: Context,
  adapter: BillingAdapter,
  delivery: WebhookDelivery,
  readBody: () => unknown,
): Promise<Reading> {
  try {
    return readEvent(ctx, adapter, delivery, requireObject(readBody()));
  } catch (error) {
    if (error instanceof PublicError || error instanceof InvalidRequestError) {
      const kept = { raw: delivery.rawBody, headers: selectHeaders(delivery.headers) };
      await ctx.databaseLimiter.run(() =>
        storeUnreadableDelivery(ctx, adapter.provider, kept, error),
      );
      ctx.metrics.countWebhook(adapter.provider, 'failed');
    }
    throw error;
  }
}

function requireObject(body: unknown): object {
  if (body === undefined || body === null) {
    throw invalidRequest([{ loc: ['body'], msg: 'Field required', type: 'missing' }]);
  }
  if (typeof body === 'object' && !Array.isArray(body)) return body;
  const msg = 'Input should be a valid dictionary';
  throw invalidRequest([{ loc: ['body'], msg, type: 'dict_type' }]);
}

/**
 * Keeps and applies an event that is known to come from the provider, and says what came of it.
 * @param body the delivery's body, as JSON
 * @throws InvalidRequestError (422) for what is no event
 */
export async function processEvent(
  ctx: Context,
  adapter: BillingAdapter,
  delivery: WebhookDelivery,
  body: object,
): Promise<TakenEvent> {
  return take(ctx, readEvent(ctx, adapter, delivery, body));
}

interface TakenEvent {
  readonly eventId: string;
  readonly receipt: Receipt;
}

async function take(ctx: Context, reading: Reading): Promise<TakenEvent> {
  const { eventId } = reading.kept;
  const receipt =
    'event' in reading
      ? await ctx.batches.webhooks.submit(reading)
      : await ctx.databaseLimiter.run(() =>
          storeDeferredEvent(ctx, reading.kept, reading.malformed),
        );
  return { eventId, receipt };
}

type Reading =
  | ReceivedEvent
  | { readonly kept: ReceivedEvent['kept']; readonly malformed: MalformedEventError };

function readEvent(
  ctx: Context,
  { provider, normalize }: BillingAdapter,
  delivery: WebhookDelivery,
  body: object,
): Reading {
  const receivedAt = ctx.clock.now();
  const common = {
    provider,
    receivedAt,
    raw: delivery.rawBody,
    headers: selectHeaders(delivery.headers),
  };
  try {
    const event = normalize(body, delivery);
    const { type, occurredAt } = event;
    return { event, kept: { ...common, eventId: requireId(event.eventId), type, occurredAt } };
  } catch (error) {
    if (!(error instanceof MalformedEventError)) throw error;
    if (error.eventId === null) throw invalidEvent(error.message);
    const eventId = requireId(error.eventId);
    const type = error.type ?? UNKNOWN_TYPE;
    const occurredAt = error.occurredAt ?? receivedAt;
    return {
      malformed: error,
      kept: { ...common, eventId, type, occurredAt },
    };
  }
}

function requireId(eventId: string): string {
  const isGood =
    eventId !== '' && eventId.length <= MAX_EVENT_ID_CHARACTERS && isStorableText(eventId);
  if (isGood) return eventId;
  throw invalidEvent(`the id of an event has 1 to ${MAX_EVENT_ID_CHARACTERS} characters`);
}

function invalidEvent(what: string): Error {
  return invalidRequest([{ loc: ['body'], msg: `Value error, ${what}`, type: 'value_error' }]);
}

/** Headers that providers put a part of the event into. Signatures are not among them: they would open the door again. */
const MEANINGFUL = ['webhook-id', 'webhook-timestamp', 'x-event-name'];

/** The headers without which a kept event could not be understood again. */
function selectHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    MEANINGFUL.flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );
}
