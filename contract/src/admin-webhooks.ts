import { type Static, Type } from 'typebox';

import { expectedVersion, reason } from './admin-list.ts';
import { Done } from './admin-session.ts';
import { listResource } from './list-resource.ts';
import { operation } from './operation.ts';
import { dateTime, integer, nullable, nullableString, oneOf, ref, text, uuid } from './schema.ts';

/** All event types that endpoints can subscribe to. */
export const WEBHOOK_EVENT_TYPES = [
  'license.created',
  'license.renewed',
  'license.expired',
  'license.status_changed',
  'license.key_replaced',
  'activation.added',
  'activation.removed',
  'trial.started',
] as const;

const ENDPOINT_STATES = ['active', 'failing', 'disabled'] as const;

/** In characters. */
const MAX_URL_LENGTH = 2_000;
const MAX_DESCRIPTION_LENGTH = 500;

const MAX_OVERLAP_SECONDS = 30 * 86_400;

const endpointId = uuid({ examples: ['0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d'] });

const WebhookEndpoint = Type.Object(
  {
    id: endpointId,
    url: Type.String({ examples: ['https://crm.example.com/hooks/latchkey'] }),
    description: nullableString({ examples: ['The customer database'] }),
    events: Type.Array(Type.String({ examples: ['license.created'] }), {
      description: 'The event types that it receives; empty: all.',
    }),
    state: oneOf(ENDPOINT_STATES, {
      description: '`failing`: its last attempts failed; `disabled`: it receives nothing.',
      examples: ['active'],
    }),
    disabled_reason: nullable(
      oneOf(['operator', 'gone', 'failing'], {
        description:
          '`gone`: it answered 410 Gone; `failing`: it has failed for five days; null: it is not disabled.',
      }),
    ),
    created_at: dateTime({ examples: ['2026-11-01T10:00:00.000Z'] }),
    failing_since: nullable(dateTime({ examples: ['2026-11-20T10:00:00.000Z'] })),
    disabled_at: nullable(dateTime({ examples: ['2026-11-25T10:00:00.000Z'] })),
    previous_secret_until: nullable(
      dateTime({
        description: 'Until when messages are also signed with the previous secret.',
        examples: ['2026-11-21T10:00:00.000Z'],
      }),
    ),
    version: Type.Integer({ examples: [3] }),
  },
  { $id: 'WebhookEndpoint', description: 'A receiver of outgoing webhooks.' },
);
export type WebhookEndpoint = Static<typeof WebhookEndpoint>;

const WebhookEndpointItem = Type.Object(
  {
    ...WebhookEndpoint.properties,
    pending: Type.Integer({
      description: 'Deliveries that wait for an attempt; at most 1,000 are counted.',
      examples: [0],
    }),
    failed: Type.Integer({
      description: 'Deliveries that exhausted their retries; at most 1,000 are counted.',
      examples: [0],
    }),
  },
  { $id: 'WebhookEndpointItem' },
);
export type WebhookEndpointItem = Static<typeof WebhookEndpointItem>;

export const webhookEndpoints = listResource({
  id: 'WebhookEndpoints',
  name: 'endpoint',
  title: 'webhook endpoints',
  description: 'Without their secrets.',
  path: 'webhook-endpoints',
  item: WebhookEndpointItem,
  sorts: ['created_at', 'url'],
  search: 'A part of the URL or of the description.',
  filters: { state: Type.Optional(oneOf(ENDPOINT_STATES)) },
  permissions: { read: 'webhook-endpoints:read', export: 'webhook-endpoints:export' },
  columns: [
    'id',
    'url',
    'description',
    'events',
    'state',
    'disabled_reason',
    'pending',
    'failed',
    'created_at',
    'failing_since',
    'disabled_at',
  ],
});

/** The path of an operation on one endpoint. */
const WebhookEndpointPath = Type.Object({ id: uuid() });

export const showWebhookEndpoint = operation({
  id: 'showWebhookEndpoint',
  method: 'GET',
  path: 'webhook-endpoints/:id',
  summary: 'Show an endpoint',
  permission: 'webhook-endpoints:read',
  params: WebhookEndpointPath,
  response: ref(WebhookEndpointItem, 'The endpoint, without its secret.'),
  errors: ['not_found'],
});

const events = Type.Array(oneOf(WEBHOOK_EVENT_TYPES), {
  description: 'The event types to receive; empty: all.',
  maxItems: WEBHOOK_EVENT_TYPES.length,
  examples: [['license.created']],
});

const description = nullable(
  text({
    description: 'The purpose of the endpoint.',
    maxLength: MAX_DESCRIPTION_LENGTH,
    examples: ['The customer database'],
  }),
);

const WebhookEndpointCreate = Type.Object(
  {
    url: text({
      description: 'https:// or http:// URL of any host that the service reaches.',
      maxLength: MAX_URL_LENGTH,
      examples: ['https://crm.example.com/hooks/latchkey'],
    }),
    events,
    description: Type.Optional(description),
    reason,
  },
  { $id: 'WebhookEndpointCreate', additionalProperties: false },
);

const WebhookSecret = Type.Object(
  {
    secret: Type.String({
      description: 'The signing secret (Standard Webhooks), which cannot be shown again.',
      examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    }),
    endpoint: ref(WebhookEndpoint),
  },
  { $id: 'WebhookSecret' },
);
export type WebhookSecret = Static<typeof WebhookSecret>;

export const addWebhookEndpoint = operation({
  id: 'addWebhookEndpoint',
  method: 'POST',
  path: 'webhook-endpoints',
  summary: 'Add an endpoint',
  description: 'A running service uses it within five seconds.',
  permission: 'webhook-endpoints:add',
  body: ref(WebhookEndpointCreate),
  response: ref(WebhookSecret, 'The endpoint and its signing secret.'),
  errors: ['not_possible'],
});

const WebhookEndpointUpdate = Type.Object(
  { events, description, expected_version: expectedVersion, reason },
  { $id: 'WebhookEndpointUpdate', additionalProperties: false },
);

export const updateWebhookEndpoint = operation({
  id: 'updateWebhookEndpoint',
  method: 'POST',
  path: 'webhook-endpoints/:id/update',
  summary: 'Change the event types and the description of an endpoint',
  permission: 'webhook-endpoints:change',
  params: WebhookEndpointPath,
  body: ref(WebhookEndpointUpdate),
  response: ref(WebhookEndpoint, 'The changed endpoint.'),
  errors: ['not_found', 'conflict'],
});

const WebhookEndpointChange = Type.Object(
  { expected_version: expectedVersion, reason },
  { $id: 'WebhookEndpointChange', additionalProperties: false },
);

export const disableWebhookEndpoint = operation({
  id: 'disableWebhookEndpoint',
  method: 'POST',
  path: 'webhook-endpoints/:id/disable',
  summary: 'Pause the deliveries to an endpoint',
  description: 'Pending messages wait until it is enabled; later events are not recorded for it.',
  permission: 'webhook-endpoints:change',
  params: WebhookEndpointPath,
  body: ref(WebhookEndpointChange),
  response: ref(WebhookEndpoint, 'The disabled endpoint.'),
  errors: ['not_found', 'conflict'],
});

export const enableWebhookEndpoint = operation({
  id: 'enableWebhookEndpoint',
  method: 'POST',
  path: 'webhook-endpoints/:id/enable',
  summary: 'Resume the deliveries to an endpoint',
  permission: 'webhook-endpoints:change',
  params: WebhookEndpointPath,
  body: ref(WebhookEndpointChange),
  response: ref(WebhookEndpoint, 'The enabled endpoint.'),
  errors: ['not_found', 'conflict'],
});

export const removeWebhookEndpoint = operation({
  id: 'removeWebhookEndpoint',
  method: 'POST',
  path: 'webhook-endpoints/:id/remove',
  summary: 'Delete an endpoint and its secret',
  permission: 'webhook-endpoints:remove',
  params: WebhookEndpointPath,
  body: ref(WebhookEndpointChange),
  response: ref(Done, 'The endpoint is deleted; its deliveries stay for 30 days.'),
  errors: ['not_found', 'conflict'],
});

const WebhookEndpointRoll = Type.Object(
  {
    overlap_seconds: integer({
      description: 'For how long messages are also signed with the previous secret.',
      minimum: 0,
      maximum: MAX_OVERLAP_SECONDS,
      examples: [86_400],
    }),
    expected_version: expectedVersion,
    reason,
  },
  { $id: 'WebhookEndpointRoll', additionalProperties: false },
);

export const rollWebhookSecret = operation({
  id: 'rollWebhookSecret',
  method: 'POST',
  path: 'webhook-endpoints/:id/roll',
  summary: 'Replace the signing secret of an endpoint',
  permission: 'webhook-endpoints:roll',
  params: WebhookEndpointPath,
  body: ref(WebhookEndpointRoll),
  response: ref(WebhookSecret, 'The endpoint and its new secret.'),
  errors: ['not_found', 'conflict'],
});

const WebhookTest = Type.Object(
  {
    delivered: Type.Boolean({ description: 'Whether the endpoint answered 2xx in time.' }),
    status: nullable(
      integer({
        description: 'The HTTP status; null without an answer.',
        minimum: 100,
        maximum: 999,
        examples: [204],
      }),
    ),
    duration_ms: Type.Integer({ examples: [87] }),
    error: nullableString({ examples: ['answered 500'] }),
    answer: nullableString({ description: 'The beginning of the answer.' }),
  },
  { $id: 'WebhookTest' },
);
export type WebhookTest = Static<typeof WebhookTest>;

export const testWebhookEndpoint = operation({
  id: 'testWebhookEndpoint',
  method: 'POST',
  path: 'webhook-endpoints/:id/test',
  summary: 'Send a test message to an endpoint',
  description: 'Sends a signed message of the type `endpoint.test` once, even if it is disabled.',
  permission: 'webhook-endpoints:test',
  params: WebhookEndpointPath,
  response: ref(WebhookTest, 'How the endpoint answered.'),
  errors: ['not_found'],
});
