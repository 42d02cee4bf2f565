import { randomBytes } from 'node:crypto';

import { v7 as makeUuid } from 'uuid';

import type { Context } from '#server/context.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import {
  insertEndpoint,
  listEndpointRecords,
  lockEndpoints,
  type EndpointRecord,
} from './queries/endpoints.ts';
import type { EventType } from './rules/payload.ts';
import { generateWebhookSecret } from './rules/sign-message.ts';
import { sealSecret } from './secrets.ts';

/** Who changes an endpoint by hand, and why. */
export interface EndpointChange {
  readonly actor: string;
  readonly reason: string | null;
}

/** What an endpoint is made of. */
interface NewEndpoint {
  /** http or https, to any host: whoever may register one may reach all that the service reaches. */
  readonly url: string;
  /** Empty: all. */
  readonly eventTypes: readonly EventType[];
  readonly description: string | null;
}

/** An endpoint with its signing secret in plain, which is shown this once. */
export interface EndpointWithSecret {
  readonly endpoint: EndpointRecord;
  readonly secret: string;
}

/** Each may take a number of connections at once, so their number is bounded. */
export const MAX_ENDPOINTS = 50;

const MAX_URL_CHARACTERS = 2_000;

/**
 * Registers an endpoint and leaves an audit row.
 * @throws EndpointError for a URL that cannot be one, one that is registered already, or one endpoint too many
 */
export async function addEndpoint(
  ctx: Context,
  order: NewEndpoint,
  change: EndpointChange,
): Promise<EndpointWithSecret> {
  const now = ctx.clock.now();
  const url = readUrl(order.url);
  const secret = generateWebhookSecret(randomBytes);
  const id = makeUuid();
  const endpoint: EndpointRecord = {
    id,
    url: url.href,
    description: order.description,
    eventTypes: [...new Set(order.eventTypes)],
    secretSealed: sealSecret(ctx.vault, id, secret),
    previousSecretSealed: null,
    previousSecretUntil: null,
    createdAt: now,
    failingSince: null,
    disabledAt: null,
    disabledReason: null,
  };
  await inTransaction(ctx.pool, async (client) => {
    await lockEndpoints(client);
    requireRoom(await listEndpointRecords(client, MAX_ENDPOINTS), endpoint);
    await insertEndpoint(client, endpoint);
    await insertAuditEntry(client, {
      ...change,
      occurredAt: now,
      action: 'endpoint.add',
      subjectId: id,
      details: { host: url.host, events: endpoint.eventTypes.join(' ') || 'all' },
    });
  });
  ctx.wantedEvents.forget();
  return { endpoint, secret };
}

function requireRoom(present: readonly EndpointRecord[], { url }: EndpointRecord): void {
  if (present.some((each) => each.url === url)) {
    throw new EndpointError('This URL is an endpoint already: remove it first, or roll it.');
  }
  if (present.length >= MAX_ENDPOINTS) {
    throw new EndpointError(`There are ${MAX_ENDPOINTS} endpoints, which is the most.`);
  }
}

function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new EndpointError('The URL must begin with https:// or http://.');
  }
  if (url.username !== '' || url.password !== '') {
    throw new EndpointError('The URL must not hold a password: the signature is the proof.');
  }
  if (url.href.length > MAX_URL_CHARACTERS) {
    throw new EndpointError(`The URL must have at most ${MAX_URL_CHARACTERS} characters.`);
  }
  url.hash = '';
  return url;
}

/** Why an endpoint cannot be made or changed: a sentence for the operator, which never holds a secret. */
export class EndpointError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'EndpointError';
  }
}

export function endpointNotFound(): EndpointError {
  return new EndpointError('There is no such endpoint: give its id or its URL.');
}
