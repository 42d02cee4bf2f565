import type { IncomingHttpHeaders } from 'node:http';

import { isStorableText, isTestSource, providerOf, type WebhookResponse } from '@latchkey/contract';

import { separateTestSecrets } from '#server/config/payment-providers.ts';
import { retryConflicts } from '#server/db/transaction.ts';
import {
  billingNotConfigured,
  invalidRequest,
  InvalidRequestError,
  invalidSignature,
  PublicError,
  staleSignature,
  unknownProvider,
} from '#server/errors.ts';

import { requirePast } from './check-clock.ts';
import type { BillingDependencies } from './dependencies.ts';
import { storeFailedEvent, storeUnreadableDelivery } from './failed-events.ts';
import {
  MalformedEventError,
  toTestAdapter,
  type BillingAdapter,
  type WebhookDelivery,
} from './providers/adapter.ts';
import { findAdapter } from './providers/adapters.ts';
import { sealLicenseKeys, sealTextKeys } from './providers/custom-data.ts';
import { sealNamedKey } from './find-renewed.ts';
import type { StoredEvent } from './queries/events.ts';
import { receiveEvents, type EventResponse, type PartialReceipt } from './receive-events.ts';
import type { Receipt, ReceivedEvent } from './received-event.ts';

const MAX_EVENT_ID_CHARACTERS = 200;

/** The stored type of an event whose type cannot be read. */
const UNKNOWN_TYPE = 'unknown';

/**
 * Receives a delivery of a payment provider: verifies the signature, then reads the body, then stores and applies its events
 * before it answers.
 * @param provider as named in the path
 * @param readBody reads the body once the signature is verified
 * @returns the ids of the received events if others of the delivery could not be received
 * @throws unknownProvider (404), billingNotConfigured (503), invalidSignature, staleSignature (401)
 * @throws InvalidRequestError (422) if the signed body is not an event
 */
export async function receiveWebhook(
  deps: BillingDependencies,
  provider: string,
  delivery: WebhookDelivery,
  readBody: () => unknown,
): Promise<WebhookResponse | PartialReceipt> {
  const known = findAdapter(provider);
  if (known === undefined) throw unknownProvider();
  const adapter = verify(deps, known, delivery);
  const { split } = adapter;
  if (split === undefined) return receiveEvent(deps, adapter, delivery, readBody);
  const events = await storeUnlessRead(deps, adapter, delivery, async () => {
    const listed = split(requireObject(await readBody()), deps.clock.now());
    if (listed === null) throw invalidEvent('the body is not a list of events');
    return listed;
  });
  return receiveEvents(deps, provider, events, (event) => {
    // Each event is stored by itself: it can be applied, replayed and removed without the others.
    const part = { headers: delivery.headers, rawBody: Buffer.from(JSON.stringify(event)) };
    return receiveEvent(deps, adapter, part, () => event);
  });
}

async function receiveEvent(
  deps: BillingDependencies,
  adapter: BillingAdapter,
  delivery: WebhookDelivery,
  readBody: () => unknown,
): Promise<EventResponse> {
  const event = await storeUnlessRead(deps, adapter, delivery, () =>
    readEvent(deps, adapter, delivery, requireObject(readBody())),
  );
  const receipt = await applyOrDefer(deps, event);
  deps.metrics.countPaymentEvent(event.provider, receipt.status);
  return { ...receipt, event_id: event.eventId };
}

/**
 * Verifies the signature, and returns the adapter that reads the event: that of the test mode if a secret of it signed.
 * @throws billingNotConfigured (503), invalidSignature, staleSignature (401)
 */
function verify(
  { clock, config, metrics, webhookSecrets }: BillingDependencies,
  adapter: BillingAdapter,
  delivery: WebhookDelivery,
): BillingAdapter {
  const provider = providerOf(adapter.provider);
  const { real, test } = separateTestSecrets(webhookSecrets[provider]);
  const options = { now: clock.now(), toleranceSeconds: config.billing.toleranceSeconds };
  const results = [
    { reader: adapter, secrets: real },
    { reader: toTestAdapter(adapter), secrets: test },
  ].flatMap(({ reader, secrets }) =>
    secrets.length === 0
      ? []
      : [{ reader, verification: adapter.verify(delivery, { ...options, secrets }) }],
  );
  const [first] = results;
  if (first === undefined) {
    metrics.countRefusal(`webhook_${provider}`, 'not_configured');
    throw billingNotConfigured();
  }
  const valid = results.find(({ verification }) => verification === 'valid');
  if (valid !== undefined) return valid.reader;
  const isStale = results.some(({ verification }) => verification === 'stale');
  const found = isStale ? 'stale' : first.verification;
  metrics.countRefusal(`webhook_${provider}`, `signature_${found}`);
  throw found === 'stale' ? staleSignature() : invalidSignature();
}

/** Reads a delivery or an event of it; stores what cannot be read before it throws. */
async function storeUnlessRead<Value>(
  deps: BillingDependencies,
  { provider }: BillingAdapter,
  delivery: WebhookDelivery,
  read: () => Value | Promise<Value>,
): Promise<Value> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof PublicError || error instanceof InvalidRequestError) {
      const { headers, rawBody } = delivery;
      const raw = sealBody(deps, rawBody);
      const stored = { rawBody, raw, headers: selectHeaders(headers) };
      await deps.databaseLimiter.run(() => storeUnreadableDelivery(deps, provider, stored, error));
      deps.metrics.countPaymentEvent(provider, 'failed');
    }
    throw error;
  }
}

/** Enough to see what was sent. */
const MAX_UNREADABLE_BYTES = 65_536;

/** Returns an unreadable body as it is stored: its beginning, without the license keys that it contains. */
function sealBody({ vault }: Pick<BillingDependencies, 'vault'>, rawBody: Buffer): Buffer {
  const seal = (key: string): string => sealNamedKey(vault, key);
  const body = parseObject(rawBody);
  const sealed =
    body === null
      ? sealTextKeys(rawBody, seal)
      : replaceBody(rawBody, body, sealLicenseKeys(body, seal));
  return sealed.subarray(0, MAX_UNREADABLE_BYTES);
}

function replaceBody(rawBody: Buffer, body: object, sealed: object): Buffer {
  return sealed === body ? rawBody : Buffer.from(JSON.stringify(sealed));
}

/** Returns null for a body that is not JSON, or not an object. */
function parseObject(rawBody: Buffer): object | null {
  try {
    const body: unknown = JSON.parse(rawBody.toString('utf8'));
    return typeof body === 'object' ? body : null;
  } catch {
    return null;
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
  deps: BillingDependencies,
  adapter: BillingAdapter,
  delivery: WebhookDelivery,
  body: object,
): Promise<Receipt> {
  return applyOrDefer(deps, readEvent(deps, adapter, delivery, body));
}

/** An event that was read, or the header of a malformed one. */
type ReadEvent = ReceivedEvent | (StoredEvent & { readonly malformed: MalformedEventError });

function applyOrDefer(deps: BillingDependencies, event: ReadEvent): Promise<Receipt> {
  return 'malformed' in event
    ? deps.databaseLimiter.run(() =>
        retryConflicts(() => storeFailedEvent(deps, event, event.malformed)),
      )
    : deps.batches.paymentEvents.submit(event);
}

function readEvent(
  { clock, vault }: BillingDependencies,
  { provider, normalize }: BillingAdapter,
  { headers, rawBody }: WebhookDelivery,
  body: object,
): ReadEvent {
  const receivedAt = clock.now();
  const sealed = sealLicenseKeys(body, (key) => sealNamedKey(vault, key));
  const raw = replaceBody(rawBody, body, sealed);
  const delivery = { receivedAt, raw, headers: selectHeaders(headers) };
  try {
    const event = normalize(sealed, { headers, rawBody });
    requireEventId(event.eventId);
    requirePast(event, receivedAt);
    return { ...event, ...delivery };
  } catch (error) {
    if (!(error instanceof MalformedEventError)) throw error;
    const { eventId, type, occurredAt } = error.header;
    if (eventId === null) throw invalidEvent(error.message);
    requireEventId(eventId);
    const source = isTestSource(provider) ? provider : (error.header.provider ?? provider);
    const header = { eventId, type: type ?? UNKNOWN_TYPE, occurredAt: occurredAt ?? receivedAt };
    return { provider: source, ...header, ...delivery, malformed: error };
  }
}

function requireEventId(eventId: string): void {
  const isValid =
    eventId !== '' && eventId.length <= MAX_EVENT_ID_CHARACTERS && isStorableText(eventId);
  if (isValid) return;
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
