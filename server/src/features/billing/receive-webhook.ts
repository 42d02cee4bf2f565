import type { IncomingHttpHeaders } from 'node:http';

import { isStorableText, type WebhookResponse } from '@latchkey/contract';
import type { Pool } from 'pg';
import type { Logger } from 'pino';

import type { Clock } from '#server/clock.ts';
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
import type { EventHeader } from './facts.ts';
import {
  MalformedEventError,
  type BillingAdapter,
  type WebhookDelivery,
} from './providers/adapter.ts';
import { findAdapter, type WebhookSecrets } from './providers/adapters.ts';
import type { StoredDelivery } from './queries/events.ts';
import type { WebhookBatch } from './webhook-batch.ts';

export interface IntakeDependencies {
  readonly batches: { readonly webhooks: WebhookBatch };
  readonly clock: Clock;
  readonly databaseLimiter: { run<Result>(call: () => Promise<Result>): Promise<Result> };
  readonly log: Logger;
  readonly pool: Pool;
}

export interface ReceiveDependencies extends IntakeDependencies {
  readonly config: { readonly billing: { readonly toleranceSeconds: number } };
  readonly metrics: {
    countRefusal(endpoint: string, reason: string): void;
    countWebhook(provider: string, status: string): void;
  };
  readonly webhookSecrets: WebhookSecrets;
}

const MAX_EVENT_ID_CHARACTERS = 200;

/** The stored type of an event whose type cannot be read. */
const UNKNOWN_TYPE = 'unknown';

/**
 * Receives a delivery of a payment provider: verifies the signature, then reads the body, then stores and applies the
 * event before it answers.
 * @param provider as named in the path
 * @param readBody reads the body once the signature is verified
 * @throws unknownProvider (404), billingNotConfigured (503), invalidSignature, staleSignature (401)
 * @throws InvalidRequestError (422) if the signed body is not an event
 */
export async function receiveWebhook(
  deps: ReceiveDependencies,
  provider: string,
  delivery: WebhookDelivery,
  readBody: () => unknown,
): Promise<WebhookResponse> {
  const adapter = findAdapter(provider);
  if (adapter === undefined) throw unknownProvider();
  verify(deps, adapter, delivery);
  const received = await readOrStore(deps, adapter, delivery, readBody);
  const receipt = await applyOrDefer(deps, received);
  deps.metrics.countWebhook(provider, receipt.status);
  return { ...receipt, event_id: received.event.eventId };
}

function verify(
  deps: ReceiveDependencies,
  { provider, verify: verifySignature }: BillingAdapter,
  delivery: WebhookDelivery,
): void {
  const secrets = deps.webhookSecrets[provider];
  if (secrets.length === 0) {
    deps.metrics.countRefusal(`webhook_${provider}`, 'not_configured');
    throw billingNotConfigured();
  }
  const verification = verifySignature(delivery, {
    secrets,
    now: deps.clock.now(),
    toleranceSeconds: deps.config.billing.toleranceSeconds,
  });
  if (verification.ok) return;
  deps.metrics.countRefusal(`webhook_${provider}`, `signature_${verification.reason}`);
  throw verification.reason === 'stale' ? staleSignature() : invalidSignature();
}

/** Reads the event; stores a delivery that cannot be read before it throws. */
async function readOrStore(
  deps: ReceiveDependencies,
  adapter: BillingAdapter,
  delivery: WebhookDelivery,
  readBody: () => unknown,
): Promise<ReadEvent> {
  try {
    return readEvent(adapter, delivery, requireObject(readBody()), deps.clock.now());
  } catch (error) {
    if (error instanceof PublicError || error instanceof InvalidRequestError) {
      const stored = { raw: delivery.rawBody, headers: selectHeaders(delivery.headers) };
      await deps.databaseLimiter.run(() =>
        storeUnreadableDelivery(deps, adapter.provider, stored, error),
      );
      deps.metrics.countWebhook(adapter.provider, 'failed');
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
 * Stores and applies an event that is known to come from the provider.
 * @param body the parsed JSON body of the delivery
 * @throws InvalidRequestError (422) if the body is not an event
 */
export async function processEvent(
  deps: IntakeDependencies,
  adapter: BillingAdapter,
  delivery: WebhookDelivery,
  body: object,
): Promise<Receipt> {
  return applyOrDefer(deps, readEvent(adapter, delivery, body, deps.clock.now()));
}

/** An event that was read, or the header of a malformed one. */
type ReadEvent =
  | ReceivedEvent
  | {
      readonly event: EventHeader;
      readonly delivery: StoredDelivery;
      readonly malformed: MalformedEventError;
    };

function applyOrDefer(deps: IntakeDependencies, received: ReadEvent): Promise<Receipt> {
  if (!('malformed' in received)) return deps.batches.webhooks.submit(received);
  const { event, delivery, malformed } = received;
  return deps.databaseLimiter.run(() =>
    storeDeferredEvent(deps, { ...event, ...delivery }, malformed),
  );
}

function readEvent(
  { provider, normalize }: BillingAdapter,
  { headers, rawBody }: WebhookDelivery,
  body: object,
  receivedAt: Date,
): ReadEvent {
  const delivery = { receivedAt, raw: rawBody, headers: selectHeaders(headers) };
  try {
    const event = normalize(body, { headers, rawBody });
    requireEventId(event.eventId);
    return { event, delivery };
  } catch (error) {
    if (!(error instanceof MalformedEventError)) throw error;
    if (error.eventId === null) throw invalidEvent(error.message);
    const eventId = requireEventId(error.eventId);
    const type = error.type ?? UNKNOWN_TYPE;
    const occurredAt = error.occurredAt ?? receivedAt;
    return { event: { provider, eventId, type, occurredAt }, delivery, malformed: error };
  }
}

function requireEventId(eventId: string): string {
  const isValid =
    eventId !== '' && eventId.length <= MAX_EVENT_ID_CHARACTERS && isStorableText(eventId);
  if (isValid) return eventId;
  throw invalidEvent(`the id of an event has 1 to ${MAX_EVENT_ID_CHARACTERS} characters`);
}

function invalidEvent(problem: string): Error {
  return invalidRequest([{ loc: ['body'], msg: `Value error, ${problem}`, type: 'value_error' }]);
}

/** Headers that contain a part of the event. Signatures are excluded, because they would allow a replay of the request. */
const EVENT_HEADERS = ['webhook-id', 'webhook-timestamp', 'x-event-name'];

/** Selects the headers that are needed to read a stored event again. */
function selectHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    EVENT_HEADERS.flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );
}
