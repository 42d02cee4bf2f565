import { type Static, Type } from 'typebox';

import { expectedVersion, listOf, listQuery, reason, rowsQuery } from './admin-list.ts';
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
const MAX_MESSAGE_ID_LENGTH = 200;

const MAX_OVERLAP_SECONDS = 30 * 86_400;

const endpointId = uuid({ examples: ['0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d'] });

export const WebhookEndpoint = Type.Object(
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

export const WebhookEndpointItem = Type.Object(
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

const ENDPOINT_FILTERS = {
  search: Type.Optional(
    text({ description: 'A part of the URL or of the description.', maxLength: 320 }),
  ),
  state: Type.Optional(oneOf(ENDPOINT_STATES)),
};
const ENDPOINT_SORTS = ['created_at', 'url'] as const;

export const WebhookEndpointQuery = listQuery(ENDPOINT_SORTS, ENDPOINT_FILTERS);
export const WebhookEndpointRowsQuery = rowsQuery(ENDPOINT_SORTS, ENDPOINT_FILTERS);
export type WebhookEndpointRowsQuery = Static<typeof WebhookEndpointRowsQuery>;

export const WebhookEndpoints = listOf(WebhookEndpointItem, 'WebhookEndpoints');

/** The path of an operation on one endpoint. */
export const WebhookEndpointPath = Type.Object({ id: uuid() });

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

export const WebhookEndpointCreate = Type.Object(
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
  { $id: 'WebhookEndpointCreate' },
);

export const WebhookEndpointUpdate = Type.Object(
  { events, description, expected_version: expectedVersion, reason },
  { $id: 'WebhookEndpointUpdate' },
);

export const WebhookEndpointChange = Type.Object(
  { expected_version: expectedVersion, reason },
  { $id: 'WebhookEndpointChange' },
);

export const WebhookEndpointRoll = Type.Object(
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
  { $id: 'WebhookEndpointRoll' },
);

export const WebhookSecret = Type.Object(
  {
    secret: Type.String({
      description: 'The signing secret (Standard Webhooks), which cannot be shown again.',
      examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    }),
    endpoint: ref(WebhookEndpoint),
  },
  { $id: 'WebhookSecret' },
);

export const WebhookTest = Type.Object(
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

/** `retrying`: an attempt failed and others follow; `failed`: the retries are exhausted. */
const DELIVERY_STATES = ['pending', 'retrying', 'delivered', 'failed'] as const;

/** In characters. */
const MAX_TIME_LENGTH = 40;

const since = Type.Optional(
  text({
    description: 'Only events since this date (00:00 UTC) or date-time.',
    maxLength: MAX_TIME_LENGTH,
    examples: ['2026-11-01'],
  }),
);

const DELIVERY_FILTERS = {
  search: Type.Optional(
    text({
      description: 'The id of a message or of a license.',
      maxLength: 320,
      examples: ['msg_0190a6b27c1e7d329c413f5f0a1b2c3d'],
    }),
  ),
  state: Type.Optional(oneOf(DELIVERY_STATES)),
  endpoint_id: Type.Optional(endpointId),
  type: Type.Optional(oneOf(WEBHOOK_EVENT_TYPES)),
  since,
  until: Type.Optional(
    text({
      description: 'Only events before this date (00:00 UTC) or date-time.',
      maxLength: MAX_TIME_LENGTH,
      examples: ['2026-12-01'],
    }),
  ),
};

const DELIVERY_SORTS = ['-created_at'] as const;

export const WebhookDeliveriesQuery = listQuery(DELIVERY_SORTS, DELIVERY_FILTERS);
export const WebhookDeliveriesExportQuery = rowsQuery(DELIVERY_SORTS, DELIVERY_FILTERS);
export type WebhookDeliveriesExportQuery = Static<typeof WebhookDeliveriesExportQuery>;

const status = nullable(
  integer({
    description: 'The HTTP status; null without an answer.',
    minimum: 100,
    maximum: 999,
    examples: [500],
  }),
);

const delivery = {
  message_id: Type.String({ examples: ['msg_0190a6b27c1e7d329c413f5f0a1b2c3d'] }),
  endpoint_id: endpointId,
  endpoint_url: nullableString({
    description: 'Null: the endpoint was removed.',
    examples: ['https://crm.example.com/hooks/latchkey'],
  }),
  type: Type.String({ examples: ['license.created'] }),
  license_id: uuid({ examples: ['0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3e'] }),
  state: oneOf(DELIVERY_STATES, {
    description:
      '`retrying`: an attempt failed and others follow; `failed`: the retries are exhausted.',
    examples: ['retrying'],
  }),
  attempts: Type.Integer({ examples: [2] }),
  created_at: dateTime({ examples: ['2026-11-20T10:00:00.000Z'] }),
  last_attempt_at: nullable(dateTime({ examples: ['2026-11-20T10:05:00.000Z'] })),
  next_attempt_at: nullable(dateTime({ examples: ['2026-11-20T10:35:00.000Z'] })),
  last_status: status,
  last_duration_ms: nullable(integer({ minimum: 0, maximum: 2_147_483_647, examples: [87] })),
  last_error: nullableString({ examples: ['answered 500'] }),
};

const WebhookDeliveryItem = Type.Object(delivery, { $id: 'WebhookDeliveryItem' });
export type WebhookDeliveryItem = Static<typeof WebhookDeliveryItem>;

export const WebhookDeliveries = listOf(WebhookDeliveryItem, 'WebhookDeliveries');

const WebhookAttempt = Type.Object(
  {
    attempted_at: dateTime({ examples: ['2026-11-20T10:05:00.000Z'] }),
    status,
    duration_ms: Type.Integer({ examples: [87] }),
    error: nullableString({ description: 'Null: the endpoint accepted the message.' }),
    answer: nullableString({
      description:
        'The beginning of the answer: at most 1,000 bytes. Null without one, and for everyone but admins.',
    }),
  },
  { $id: 'WebhookAttempt' },
);

export const WebhookDelivery = Type.Object(
  {
    ...delivery,
    payload: Type.String({ description: 'The body as it is sent.' }),
    history: Type.Array(ref(WebhookAttempt), {
      description: 'The newest 100 attempts, the newest first.',
    }),
  },
  { $id: 'WebhookDelivery' },
);
export type WebhookDelivery = Static<typeof WebhookDelivery>;

/** The path of an operation on one delivery. */
export const WebhookDeliveryPath = Type.Object({
  message_id: text({
    maxLength: MAX_MESSAGE_ID_LENGTH,
    examples: ['msg_0190a6b27c1e7d329c413f5f0a1b2c3d'],
  }),
  endpoint_id: uuid(),
});

export const WebhookReplayRequest = Type.Object({ reason }, { $id: 'WebhookReplayRequest' });

export const WebhookReplayAllRequest = Type.Object(
  {
    since: text({
      description:
        'Replays the failed deliveries of events since this date (00:00 UTC) or date-time.',
      maxLength: MAX_TIME_LENGTH,
      examples: ['2026-11-01'],
    }),
    endpoint_id: Type.Optional(endpointId),
    reason,
  },
  { $id: 'WebhookReplayAllRequest' },
);

export const WebhookReplay = Type.Object(
  {
    replayed: Type.Integer({ examples: [12] }),
    waiting: Type.Integer({
      description: 'How many of them wait until their disabled endpoint is enabled.',
      examples: [0],
    }),
  },
  { $id: 'WebhookReplay' },
);

/** The named schemas of outgoing webhooks, for the interface document. */
export const webhookSchemas = [
  WebhookEndpoint,
  WebhookEndpointItem,
  WebhookEndpoints,
  WebhookEndpointCreate,
  WebhookEndpointUpdate,
  WebhookEndpointChange,
  WebhookEndpointRoll,
  WebhookSecret,
  WebhookTest,
  WebhookDeliveryItem,
  WebhookDeliveries,
  WebhookAttempt,
  WebhookDelivery,
  WebhookReplayRequest,
  WebhookReplayAllRequest,
  WebhookReplay,
];
