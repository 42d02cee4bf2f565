import { randomBytes } from 'node:crypto';

import type { Pool } from 'pg';
import { v7 as makeUuid } from 'uuid';

import type { Clock } from '#server/clock.ts';
import { inTransaction } from '#server/db/transaction.ts';
import { notPossible } from '#server/errors.ts';
import type { ConcurrencyLimiter } from '#server/lib/concurrency-limiter.ts';
import type { Vault } from '#server/lib/vault.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import {
  insertEndpoint,
  listEndpointRecords,
  lockEndpoints,
  type EndpointRecord,
} from './queries/endpoints.ts';
import type { EventType } from './rules/payload.ts';
import { generateWebhookSecret } from './rules/sign-message.ts';
import { ALLOWED_NETWORKS_SETTING } from './rules/target-address.ts';
import { sealSecret } from './secrets.ts';
import type { EventSubscriptions } from './event-subscriptions.ts';
import type { WebhookClient } from './webhook-client.ts';

/** The dependencies of registering and changing endpoints. */
export interface EndpointDependencies {
  readonly clock: Clock;
  readonly databaseLimiter: ConcurrencyLimiter;
  readonly pool: Pool;
  readonly vault: Vault;
  readonly eventSubscriptions: EventSubscriptions;
  readonly webhookClient: WebhookClient;
}

/** Actor and reason of a change, for the audit log. */
export interface EndpointChange {
  readonly actor: string;
  readonly reason: string | null;
}

interface NewEndpoint {
  /** http or https. A host that is an address must be public, or of an allowed network. */
  readonly url: string;
  /** Empty: all types. */
  readonly eventTypes: readonly EventType[];
  readonly description: string | null;
}

/** An endpoint with its signing secret, which is shown only once. */
export interface EndpointWithSecret {
  readonly endpoint: EndpointRecord;
  readonly secret: string;
}

/** Limits the number of concurrent connections. */
export const MAX_ENDPOINTS = 50;

const MAX_URL_CHARACTERS = 2_000;

/**
 * Registers an endpoint and writes an audit entry.
 * @throws notPossible (409) for an invalid or registered URL, or too many endpoints
 */
export async function addEndpoint(
  deps: EndpointDependencies,
  { url: text, eventTypes, description }: NewEndpoint,
  change: EndpointChange,
): Promise<EndpointWithSecret> {
  const now = deps.clock.now();
  const url = readUrl(text);
  requirePublicHost(deps.webhookClient, url);
  const secret = generateWebhookSecret(randomBytes);
  const id = makeUuid();
  const endpoint: EndpointRecord = {
    id,
    url: url.href,
    description,
    eventTypes: [...new Set(eventTypes)],
    secretSealed: sealSecret(deps.vault, id, secret),
    previousSecretSealed: null,
    previousSecretUntil: null,
    createdAt: now,
    failingSince: null,
    disabledAt: null,
    disabledReason: null,
    version: 1,
  };
  await inTransaction(deps.pool, async (client) => {
    await lockEndpoints(client);
    requireCapacity(await listEndpointRecords(client, MAX_ENDPOINTS), endpoint);
    await insertEndpoint(client, endpoint);
    await insertAuditEntry(client, {
      ...change,
      occurredAt: now,
      action: 'endpoint.add',
      subjectId: id,
      details: { host: url.host, events: endpoint.eventTypes.join(' ') || 'all' },
    });
  });
  deps.eventSubscriptions.invalidate();
  return { endpoint, secret };
}

function requireCapacity(existing: readonly EndpointRecord[], { url }: EndpointRecord): void {
  if (existing.some((each) => each.url === url)) {
    throw notPossible(
      'This URL is registered already: remove the endpoint first, or roll its secret.',
    );
  }
  if (existing.length >= MAX_ENDPOINTS) {
    throw notPossible(`At most ${MAX_ENDPOINTS} endpoints can be registered.`);
  }
}

function requirePublicHost(client: WebhookClient, url: URL): void {
  if (!client.isRefusedHost(url)) return;
  throw notPossible(
    `${url.host} is not a public address: choose another host, or name its network in ${ALLOWED_NETWORKS_SETTING} and restart the service.`,
  );
}

function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw notPossible('The URL must start with https:// or http://.');
  }
  if (url.username !== '' || url.password !== '') {
    throw notPossible(
      'The URL must not contain a user name or password: receivers verify the signature.',
    );
  }
  if (url.href.length > MAX_URL_CHARACTERS) {
    throw notPossible(`The URL must have at most ${MAX_URL_CHARACTERS} characters.`);
  }
  url.hash = '';
  return url;
}
