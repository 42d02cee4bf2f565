import { type Static, Type } from 'typebox';

import { reason } from './admin-list.ts';
import { WEBHOOK_EVENT_TYPES } from './admin-webhooks.ts';
import { listResource } from './list-resource.ts';
import { operation } from './operation.ts';
import { dateTime, integer, nullable, nullableString, oneOf, ref, text, uuid } from './schema.ts';

/** `retrying`: an attempt failed and others follow; `failed`: the retries are exhausted. */
const DELIVERY_STATES = ['pending', 'retrying', 'delivered', 'failed'] as const;

/** In characters. */
const MAX_TIME_LENGTH = 40;
const MAX_MESSAGE_ID_LENGTH = 200;

const endpointId = uuid({ examples: ['0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d'] });

const since = Type.Optional(
  text({
    description: 'Only events since this date (00:00 UTC) or date-time.',
    maxLength: MAX_TIME_LENGTH,
    examples: ['2026-11-01'],
  }),
);

const until = Type.Optional(
  text({
    description: 'Only events before this date (00:00 UTC) or date-time.',
    maxLength: MAX_TIME_LENGTH,
    examples: ['2026-12-01'],
  }),
);

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

export const webhookDeliveries = listResource({
  id: 'WebhookDeliveries',
  name: 'delivery',
  title: 'webhook deliveries',
  description: 'Those of the last 30 days.',
  path: 'webhook-deliveries',
  item: WebhookDeliveryItem,
  sorts: ['-created_at'],
  search: 'The id of a message or of a license.',
  filters: {
    state: Type.Optional(oneOf(DELIVERY_STATES)),
    endpoint_id: Type.Optional(endpointId),
    type: Type.Optional(oneOf(WEBHOOK_EVENT_TYPES)),
    since,
    until,
  },
  permissions: { read: 'webhook-deliveries:read', export: 'webhook-deliveries:export' },
});

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

const WebhookDelivery = Type.Object(
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
const WebhookDeliveryPath = Type.Object({
  message_id: text({
    maxLength: MAX_MESSAGE_ID_LENGTH,
    examples: ['msg_0190a6b27c1e7d329c413f5f0a1b2c3d'],
  }),
  endpoint_id: uuid(),
});

export const showWebhookDelivery = operation({
  id: 'showWebhookDelivery',
  method: 'GET',
  path: 'webhook-deliveries/:message_id/:endpoint_id',
  summary: 'Show a delivery with its body and its attempts',
  permission: 'webhook-deliveries:read',
  params: WebhookDeliveryPath,
  response: ref(WebhookDelivery, 'The delivery.'),
  errors: ['not_found'],
});

const WebhookReplayRequest = Type.Object(
  { reason },
  { $id: 'WebhookReplayRequest', additionalProperties: false },
);

const WebhookReplayAllRequest = Type.Object(
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
  { $id: 'WebhookReplayAllRequest', additionalProperties: false },
);

const WebhookReplay = Type.Object(
  {
    replayed: Type.Integer({ examples: [12] }),
    waiting: Type.Integer({
      description: 'How many of them wait until their disabled endpoint is enabled.',
      examples: [0],
    }),
  },
  { $id: 'WebhookReplay' },
);
export type WebhookReplay = Static<typeof WebhookReplay>;

export const replayWebhookDelivery = operation({
  id: 'replayWebhookDelivery',
  method: 'POST',
  path: 'webhook-deliveries/:message_id/:endpoint_id/replay',
  summary: 'Deliver a message to an endpoint again',
  description: 'The message keeps its id, so that the receiver recognizes a duplicate.',
  permission: 'webhook-deliveries:replay',
  params: WebhookDeliveryPath,
  body: ref(WebhookReplayRequest),
  response: ref(WebhookReplay, 'The delivery is queued.'),
  errors: ['not_found'],
});

export const replayWebhookDeliveries = operation({
  id: 'replayWebhookDeliveries',
  method: 'POST',
  path: 'webhook-deliveries/replay',
  summary: 'Deliver every message again that exhausted its retries',
  permission: 'webhook-deliveries:replay',
  body: ref(WebhookReplayAllRequest),
  response: ref(WebhookReplay, 'How many deliveries are queued.'),
  errors: ['not_found'],
});
