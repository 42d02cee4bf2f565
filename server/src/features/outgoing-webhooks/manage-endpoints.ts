import { randomBytes } from 'node:crypto';

import type { PoolClient } from 'pg';

import type { Context } from '#server/context.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import {
  MAX_ENDPOINTS,
  endpointNotFound,
  type EndpointChange,
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
import { generateWebhookSecret } from './rules/sign-message.ts';
import { openSecrets, sealPreviousSecret, sealSecret } from './secrets.ts';
import { sendMessage, type SendOutcome } from './send-message.ts';

/** For how long the old secret signs beside its successor, unless it is said otherwise. */
export const DEFAULT_OVERLAP_MS = 24 * 60 * 60_000;

/** Which endpoint is to be changed. */
export interface NamedEndpointChange extends EndpointChange {
  readonly idOrUrl: string;
}

/** All endpoints, the oldest first. */
export function listEndpoints(ctx: Pick<Context, 'pool'>): Promise<EndpointRecord[]> {
  return listEndpointRecords(ctx.pool, MAX_ENDPOINTS);
}

/** The endpoint of an id or a URL. @throws EndpointError when there is none */
export async function requireEndpoint(
  ctx: Pick<Context, 'pool'>,
  idOrUrl: string,
): Promise<EndpointRecord> {
  return choose(await listEndpoints(ctx), idOrUrl);
}

/** Tells an endpoint nothing more until it is enabled. What is on its way to it waits; what happens meanwhile it is never told. */
export function disableEndpoint(ctx: Context, change: NamedEndpointChange) {
  return changeEndpoint(ctx, change, 'endpoint.disable', async (client, endpoint, now) => {
    const disabled = {
      disabledAt: endpoint.disabledAt ?? now,
      disabledReason: endpoint.disabledReason ?? 'operator',
    };
    return store(client, { ...endpoint, ...disabled });
  });
}

/** Tells an endpoint again, of what waits for it too. */
export function enableEndpoint(ctx: Context, change: NamedEndpointChange) {
  return changeEndpoint(ctx, change, 'endpoint.enable', async (client, endpoint) =>
    store(client, { ...endpoint, disabledAt: null, disabledReason: null, failingSince: null }),
  );
}

/** Forgets an endpoint and its secret; what it was told stays in the log for its 30 days. */
export function removeEndpoint(ctx: Context, change: NamedEndpointChange) {
  return changeEndpoint(ctx, change, 'endpoint.remove', async (client, endpoint) => {
    await deleteEndpoint(client, endpoint.id);
    return endpoint;
  });
}

/**
 * Gives an endpoint a new secret. For the overlap, messages carry a signature of either; a secret that was still in the
 * overlap of an earlier roll ends now.
 */
export async function rollEndpoint(
  ctx: Context,
  change: NamedEndpointChange,
  overlapMs: number,
): Promise<EndpointWithSecret> {
  const secret = generateWebhookSecret(randomBytes);
  const endpoint = await changeEndpoint(ctx, change, 'endpoint.roll', async (client, old, now) => {
    // A secret that cannot be opened is not worth keeping, and rolling is the way out.
    const oldSecret = overlapMs > 0 ? openCurrent(ctx, old, now) : null;
    const until = new Date(now.getTime() + overlapMs);
    return store(client, {
      ...old,
      secretSealed: sealSecret(ctx.vault, old.id, secret),
      previousSecretSealed:
        oldSecret === null ? null : sealPreviousSecret(ctx.vault, old.id, oldSecret, until),
      previousSecretUntil: oldSecret === null ? null : until,
    });
  });
  return { endpoint, secret };
}

/** The secret that signs now; null when it cannot be opened. */
function openCurrent(ctx: Context, endpoint: EndpointRecord, now: Date): string | null {
  try {
    return openSecrets(ctx.vault, { ...endpoint, previousSecretSealed: null }, now)[0] ?? null;
  } catch {
    // Sealed under another master secret, or changed: the roll replaces it.
    return null;
  }
}

async function changeEndpoint(
  ctx: Context,
  { idOrUrl, actor, reason }: NamedEndpointChange,
  action: string,
  apply: (client: PoolClient, endpoint: EndpointRecord, now: Date) => Promise<EndpointRecord>,
): Promise<EndpointRecord> {
  const changed = await inTransaction(ctx.pool, async (client) => {
    await lockEndpoints(client);
    const endpoint = choose(await listEndpointRecords(client, MAX_ENDPOINTS), idOrUrl);
    const now = ctx.clock.now();
    const result = await apply(client, endpoint, now);
    await insertAuditEntry(client, {
      actor,
      reason,
      occurredAt: now,
      action,
      subjectId: endpoint.id,
      details: { host: new URL(endpoint.url).host },
    });
    return result;
  });
  ctx.wantedEvents.forget();
  return changed;
}

async function store(client: PoolClient, endpoint: EndpointRecord): Promise<EndpointRecord> {
  await updateEndpoint(client, endpoint);
  return endpoint;
}

function choose(endpoints: readonly EndpointRecord[], idOrUrl: string): EndpointRecord {
  const wanted = idOrUrl.trim();
  const url = URL.canParse(wanted) ? new URL(wanted).href : wanted;
  const found = endpoints.find((each) => each.id === wanted.toLowerCase() || each.url === url);
  if (found === undefined) throw endpointNotFound();
  return found;
}

/** A type that no endpoint can choose: receivers answer 2xx to what they do not know. */
const TEST_TYPE = 'endpoint.test';

/**
 * Sends an endpoint a signed test message, once and now, also when it is disabled; it is not in the log. When the
 * endpoint takes it, its time of failures is over.
 * @throws EndpointError when there is no such endpoint
 */
export async function sendTestMessage(
  ctx: Context,
  idOrUrl: string,
): Promise<{ readonly endpoint: EndpointRecord; readonly outcome: SendOutcome }> {
  const endpoint = await requireEndpoint(ctx, idOrUrl);
  const now = ctx.clock.now();
  const data = { endpoint_id: endpoint.id };
  const payload = JSON.stringify({ type: TEST_TYPE, timestamp: now.toISOString(), data });
  const secrets = openSecrets(ctx.vault, endpoint, now);
  const outcome = await sendMessage(endpoint.url, { id: createMessageId(), payload }, secrets, now);
  if (outcome.delivered) await recordEndpointSuccess(ctx.pool, endpoint.id);
  return { endpoint, outcome };
}
