import { randomBytes } from 'node:crypto';

import type { Pool, PoolClient } from 'pg';

import { inTransaction } from '#server/db/transaction.ts';
import { conflict, noSuch } from '#server/errors.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import {
  MAX_ENDPOINTS,
  type EndpointChange,
  type EndpointDependencies,
  type EndpointWithSecret,
} from './add-endpoint.ts';
import {
  deleteEndpoint,
  listEndpointRecords,
  lockEndpoints,
  recordEndpointSuccess,
  updateEndpoint,
  type EndpointRecord,
} from './queries/endpoints.ts';
import { createMessageId } from './record-events.ts';
import type { EventType } from './rules/payload.ts';
import { generateWebhookSecret } from './rules/sign-message.ts';
import { openSecrets, sealPreviousSecret, sealSecret } from './secrets.ts';
import { sendMessage, type SendOutcome } from './send-message.ts';
import { viewEndpoint } from './view-endpoint.ts';

export interface NamedEndpointChange extends EndpointChange {
  readonly idOrUrl: string;
  /** The version that the actor saw; default: any. */
  readonly expectedVersion?: number;
}

/** Lists all endpoints, oldest first. */
export function listEndpoints({ pool }: { readonly pool: Pool }): Promise<EndpointRecord[]> {
  return listEndpointRecords(pool, MAX_ENDPOINTS);
}

/** Finds an endpoint by its id or URL. @throws noSuch (404) */
export async function requireEndpoint(
  deps: { readonly pool: Pool },
  idOrUrl: string,
): Promise<EndpointRecord> {
  return findEndpoint(await listEndpoints(deps), idOrUrl);
}

/** Disables an endpoint. Its pending deliveries wait until it is enabled; later events are not recorded for it. */
export function disableEndpoint(deps: EndpointDependencies, change: NamedEndpointChange) {
  return changeEndpoint(deps, change, 'endpoint.disable', async (client, endpoint, now) => {
    const disabled = {
      disabledAt: endpoint.disabledAt ?? now,
      disabledReason: endpoint.disabledReason ?? 'operator',
    };
    return update(client, { ...endpoint, ...disabled });
  });
}

/** Enables an endpoint, including its pending deliveries. */
export function enableEndpoint(deps: EndpointDependencies, change: NamedEndpointChange) {
  return changeEndpoint(deps, change, 'endpoint.enable', async (client, endpoint) =>
    update(client, { ...endpoint, disabledAt: null, disabledReason: null, failingSince: null }),
  );
}

/** The settings of an endpoint that can be changed; undefined leaves one unchanged. */
interface EndpointSettings {
  /** Empty: all types. */
  readonly eventTypes?: readonly EventType[] | undefined;
  readonly description?: string | null | undefined;
}

/** Changes which events an endpoint receives from now on, and its description. */
export function editEndpoint(
  deps: EndpointDependencies,
  change: NamedEndpointChange,
  { eventTypes, description }: EndpointSettings,
) {
  return changeEndpoint(deps, change, 'endpoint.edit', async (client, endpoint) =>
    update(client, {
      ...endpoint,
      eventTypes: eventTypes === undefined ? endpoint.eventTypes : [...new Set(eventTypes)],
      description: description === undefined ? endpoint.description : description,
    }),
  );
}

/** Deletes an endpoint and its secret; its deliveries stay in the log for 30 days. */
export function removeEndpoint(deps: EndpointDependencies, change: NamedEndpointChange) {
  return changeEndpoint(deps, change, 'endpoint.remove', async (client, endpoint) => {
    await deleteEndpoint(client, endpoint.id);
    return endpoint;
  });
}

/**
 * Replaces the secret of an endpoint. During the overlap messages are signed with both secrets; an older secret from an
 * earlier roll expires now.
 */
export async function rollEndpoint(
  deps: EndpointDependencies,
  change: NamedEndpointChange,
  overlapMs: number,
): Promise<EndpointWithSecret> {
  const secret = generateWebhookSecret(randomBytes);
  const endpoint = await changeEndpoint(deps, change, 'endpoint.roll', async (client, old, now) => {
    const oldSecret = overlapMs > 0 ? openCurrent(deps, old, now) : null;
    const until = new Date(now.getTime() + overlapMs);
    return update(client, {
      ...old,
      secretSealed: sealSecret(deps.vault, old.id, secret),
      previousSecretSealed:
        oldSecret === null ? null : sealPreviousSecret(deps.vault, old.id, oldSecret, until),
      previousSecretUntil: oldSecret === null ? null : until,
    });
  });
  return { endpoint, secret };
}

/** Returns the current secret, or null if it cannot be opened: the roll replaces it. */
function openCurrent(
  deps: EndpointDependencies,
  endpoint: EndpointRecord,
  now: Date,
): string | null {
  try {
    return openSecrets(deps.vault, { ...endpoint, previousSecretSealed: null }, now)[0] ?? null;
  } catch {
    // Sealed under another master secret, or corrupted.
    return null;
  }
}

async function changeEndpoint(
  deps: EndpointDependencies,
  { idOrUrl, actor, reason, expectedVersion }: NamedEndpointChange,
  action: string,
  apply: (client: PoolClient, endpoint: EndpointRecord, now: Date) => Promise<EndpointRecord>,
): Promise<EndpointRecord> {
  const changed = await inTransaction(deps.pool, async (client) => {
    await lockEndpoints(client);
    const endpoint = findEndpoint(await listEndpointRecords(client, MAX_ENDPOINTS), idOrUrl);
    if (expectedVersion !== undefined && expectedVersion !== endpoint.version) {
      throw conflict(viewEndpoint(endpoint));
    }
    const now = deps.clock.now();
    const result = await apply(client, endpoint, now);
    await insertAuditEntry(client, {
      actor,
      reason,
      occurredAt: now,
      action,
      subjectId: endpoint.id,
      details: { host: new URL(endpoint.url).host, ...describeEvents(endpoint, result) },
    });
    return result;
  });
  deps.eventSubscriptions.invalidate();
  return changed;
}

async function update(client: PoolClient, endpoint: EndpointRecord): Promise<EndpointRecord> {
  await updateEndpoint(client, endpoint);
  return { ...endpoint, version: endpoint.version + 1 };
}

/** The event types after a change of them, for the audit log. */
function describeEvents(before: EndpointRecord, after: EndpointRecord): { events?: string } {
  const events = after.eventTypes.join(' ');
  return events === before.eventTypes.join(' ') ? {} : { events: events === '' ? 'all' : events };
}

function findEndpoint(endpoints: readonly EndpointRecord[], idOrUrl: string): EndpointRecord {
  const wanted = idOrUrl.trim();
  const url = URL.canParse(wanted) ? new URL(wanted).href : wanted;
  const found = endpoints.find((each) => each.id === wanted.toLowerCase() || each.url === url);
  if (found === undefined) {
    throw noSuch('There is no such endpoint: use its id or its URL.');
  }
  return found;
}

/** Endpoints cannot subscribe to this type; receivers answer 2xx to unknown types. */
const TEST_TYPE = 'endpoint.test';

/**
 * Sends a signed test message to an endpoint, even if it is disabled, without a retry or an entry in the log of deliveries. The
 * audit log has a row before it is sent, since a success resets the endpoint's failures.
 * @throws noSuch (404)
 */
export async function sendTestMessage(
  deps: EndpointDependencies,
  idOrUrl: string,
  actor: string,
): Promise<{ readonly endpoint: EndpointRecord; readonly outcome: SendOutcome }> {
  const { databaseLimiter } = deps;
  const endpoint = await databaseLimiter.run(() => recordTest(deps, idOrUrl, actor));
  const now = deps.clock.now();
  const data = { endpoint_id: endpoint.id };
  const payload = JSON.stringify({ type: TEST_TYPE, timestamp: now.toISOString(), data });
  const secrets = openSecrets(deps.vault, endpoint, now);
  const message = { id: createMessageId(), payload };
  const outcome = await sendMessage(deps.webhookClient, endpoint.url, message, secrets, now);
  if (outcome.delivered)
    await databaseLimiter.run(() => recordEndpointSuccess(deps.pool, endpoint.id));
  return { endpoint, outcome };
}

async function recordTest(
  deps: EndpointDependencies,
  idOrUrl: string,
  actor: string,
): Promise<EndpointRecord> {
  const endpoint = await requireEndpoint(deps, idOrUrl);
  await insertAuditEntry(deps.pool, {
    actor,
    reason: null,
    occurredAt: deps.clock.now(),
    action: 'endpoint.test',
    subjectId: endpoint.id,
    details: { host: new URL(endpoint.url).host },
  });
  return endpoint;
}
