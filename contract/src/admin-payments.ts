import { type Static, Type } from 'typebox';

import { listResource } from './list-resource.ts';
import { operation } from './operation.ts';
import {
  eventSelection,
  namedEvent,
  PAYMENT_EVENT_STATES,
  paymentEventPath,
} from './payment-fields.ts';
import { reportedFields } from './reported-money.ts';
import { dateTime, nullable, nullableString, oneOf, ref, textMap, uuid } from './schema.ts';

const item = {
  provider: namedEvent.provider,
  event_id: namedEvent.event_id,
  type: namedEvent.type,
  state: oneOf(PAYMENT_EVENT_STATES, { examples: ['failed'] }),
  ...reportedFields,
  message: namedEvent.message,
  attempts: Type.Integer({ description: 'How often it was applied or tried.', examples: [3] }),
  occurred_at: dateTime({ examples: ['2026-11-20T10:00:00.000Z'] }),
  received_at: dateTime({ examples: ['2026-11-20T10:00:01.000Z'] }),
  next_attempt_at: nullable(
    dateTime({
      description: 'When the service tries a deferred event again.',
      examples: ['2026-11-20T10:02:01.000Z'],
    }),
  ),
};

const PaymentEventItem = Type.Object(item, { $id: 'PaymentEventItem' });
export type PaymentEventItem = Static<typeof PaymentEventItem>;

/** The file has no name and no address of a customer. */
const COLUMNS = [
  'provider',
  'event_id',
  'type',
  'state',
  'kind',
  'products.product_id',
  'products.price_id',
  'amount_text',
  'currency',
  'country',
  'reported',
  'message',
  'attempts',
  'occurred_at',
  'received_at',
  'next_attempt_at',
] as const;

export const paymentEvents = listResource({
  id: 'PaymentEvents',
  name: 'webhook',
  title: 'payment events',
  path: 'payment-events',
  item: PaymentEventItem,
  sorts: ['-received_at'],
  search:
    'The id of an event, transaction, subscription or customer, or the e-mail address of a buyer. The newest 500 events that were not applied are also searched for the text in their payload.',
  filters: {
    state: Type.Optional(oneOf(PAYMENT_EVENT_STATES)),
    ...eventSelection,
    license_id: Type.Optional(
      uuid({ description: 'Only events of the purchase that created this license.' }),
    ),
  },
  columns: COLUMNS,
  permissions: { read: 'payment-events:read', export: 'payment-events:export' },
});

const EFFECT_KINDS = ['payment', 'subscription', 'adjustment', 'customer'] as const;

const PaymentEffect = Type.Object(
  {
    kind: oneOf(EFFECT_KINDS, { examples: ['payment'] }),
    id: Type.String({
      description: 'The id of the transaction, subscription, adjustment or customer.',
      examples: ['txn_01hv8wptq8987qeep44cyrewp9'],
    }),
    text: Type.String({ examples: ['Renewal of sub_01hv8x29kz0t586xy6zn1a62ny'] }),
  },
  { $id: 'PaymentEffect', description: 'A fact that the event reports.' },
);

const PaymentLicense = Type.Object(
  {
    license_id: uuid({ examples: ['0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d'] }),
    key_hint: Type.String({ examples: ['8KQ2'] }),
    product: Type.String({ examples: ['personal'] }),
    status: Type.String({ examples: ['active'] }),
    customer_email: nullableString({ examples: ['ada@example.com'] }),
  },
  { $id: 'PaymentLicense', description: 'A license of the purchase that the event belongs to.' },
);

export const PaymentEvent = Type.Object(
  {
    ...item,
    summary: Type.String({
      description: 'What happened to the event, in one sentence.',
      examples: [
        'The event does not have the form of its type: The data of transaction.completed lack data.items.',
      ],
    }),
    advice: nullableString({
      description: 'What an operator can do; null if nothing is needed.',
      examples: ['Replay it after an update of Latchkey, or dismiss it with a reason.'],
    }),
    has_payload: Type.Boolean({
      description: 'Whether the body is still stored: without it the event cannot be replayed.',
    }),
    payload_removed_at: nullable(dateTime({ examples: ['2027-12-20T10:00:00.000Z'] })),
    effects: Type.Array(ref(PaymentEffect)),
    licenses: Type.Array(ref(PaymentLicense), {
      description: 'The licenses that the purchase created or renewed, at most 20.',
    }),
  },
  { $id: 'PaymentEvent' },
);
export type PaymentEvent = Static<typeof PaymentEvent>;

const PaymentPayload = Type.Object(
  {
    payload: Type.String({ description: 'The body as the provider sent it, indented if JSON.' }),
    headers: textMap({
      description: 'The headers that are needed to read the body; never the signature.',
    }),
  },
  { $id: 'PaymentPayload' },
);
export type PaymentPayload = Static<typeof PaymentPayload>;

export const showPaymentEvent = operation({
  id: 'showPaymentEvent',
  method: 'GET',
  path: 'payment-events/:provider/:event_id',
  summary: 'Show a payment event',
  permission: 'payment-events:read',
  params: paymentEventPath,
  response: ref(PaymentEvent, 'The event, what it did, and its licenses.'),
  errors: ['not_found'],
});

export const revealPaymentPayload = operation({
  id: 'revealPaymentPayload',
  method: 'POST',
  path: 'payment-events/:provider/:event_id/reveal',
  summary: 'Reveal the payload of a payment event',
  description: 'It contains personal data, so the audit log records the reveal.',
  permission: 'payment-events:reveal',
  params: paymentEventPath,
  response: ref(PaymentPayload, 'The body as the provider sent it.'),
  errors: ['not_found'],
});

const PaymentProvider = Type.Object(
  {
    provider: Type.String({ examples: ['paddle'] }),
    configured: Type.Boolean({ description: 'Whether its signing secret is set.' }),
    last_received_at: nullable(dateTime({ examples: ['2026-11-20T10:00:01.000Z'] })),
  },
  { $id: 'PaymentProvider' },
);

const PaymentSummary = Type.Object(
  {
    failed: Type.Integer({ examples: [2] }),
    deferred: Type.Integer({ examples: [1] }),
    unmatched: Type.Integer({ description: 'At most 1,000 are counted.', examples: [0] }),
    providers: Type.Array(ref(PaymentProvider)),
    types: Type.Array(Type.String(), { description: 'The stored types, at most 200.' }),
    reconciliation: Type.Object(
      {
        configured: Type.Boolean({ description: "Whether Paddle's API key is set." }),
        reconciled_at: nullable(
          dateTime({ description: 'When a comparison last reached the end of the log.' }),
        ),
        failed_at: nullable(dateTime({ description: 'When it failed since then.' })),
        failure: nullableString({ description: 'Why it failed.' }),
      },
      { description: "The comparison of Paddle's event log with the received events." },
    ),
  },
  { $id: 'PaymentSummary' },
);
export type PaymentSummary = Static<typeof PaymentSummary>;

export const summarizePayments = operation({
  id: 'summarizePayments',
  method: 'GET',
  path: 'payment-events/summary',
  summary: 'Count the payment events that need an operator',
  permission: 'payment-events:read',
  response: ref(PaymentSummary, 'The counts, the providers and the stored types.'),
});
