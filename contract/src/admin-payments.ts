import { type Static, Type } from 'typebox';

import { listOf, listQuery, reason, rowsQuery } from './admin-list.ts';
import { PAYMENT_SOURCES } from './payment-providers.ts';
import { reportedFields } from './reported-money.ts';
import { dateTime, nullable, nullableString, oneOf, ref, text, textMap, uuid } from './schema.ts';

/**
 * The states of a payment event for operators. `ignored`: no license depends on it; `unmatched`: a payment that does
 * not have all of its licenses; `dismissed`: an operator decided that it does not count.
 */
const PAYMENT_EVENT_STATES = [
  'failed',
  'deferred',
  'unmatched',
  'applied',
  'ignored',
  'dismissed',
] as const;

export type PaymentEventState = (typeof PAYMENT_EVENT_STATES)[number];

/** The states whose events can be replayed together. */
const REPLAYABLE_STATES = ['failed', 'deferred', 'unmatched', 'ignored'] as const;

/** Longer than any id or type of a provider. */
const MAX_ID_LENGTH = 200;

/** A payment provider, with `:test` for the events of its test mode. */
const providerName = oneOf(PAYMENT_SOURCES, { examples: ['paddle'] });

const eventType = text({
  description: 'The type as the provider names it.',
  maxLength: MAX_ID_LENGTH,
  examples: ['transaction.completed'],
});

/** In characters. */
const MAX_TIME_LENGTH = 40;

const since = Type.Optional(
  text({
    description: 'Only events received since this date (00:00 UTC) or date-time.',
    maxLength: MAX_TIME_LENGTH,
    examples: ['2026-11-01'],
  }),
);

const until = Type.Optional(
  text({
    description: 'Only events received before this date (00:00 UTC) or date-time.',
    maxLength: MAX_TIME_LENGTH,
    examples: ['2026-12-01'],
  }),
);

const FILTERS = {
  search: Type.Optional(
    text({
      description:
        'The id of an event, transaction, subscription or customer, or the e-mail address of a buyer. The newest 500 events that were not applied are also searched for the text in their payload.',
      maxLength: 320,
      examples: ['txn_01hv8wptq8987qeep44cyrewp9'],
    }),
  ),
  state: Type.Optional(oneOf(PAYMENT_EVENT_STATES)),
  provider: Type.Optional(providerName),
  type: Type.Optional(eventType),
  since,
  until,
  license_id: Type.Optional(
    uuid({ description: 'Only events of the purchase that created this license.' }),
  ),
};

const SORTS = ['-received_at'] as const;

export const PaymentEventsQuery = listQuery(SORTS, FILTERS);
export type PaymentEventsQuery = Static<typeof PaymentEventsQuery>;

export const PaymentEventsExportQuery = rowsQuery(SORTS, FILTERS);
export type PaymentEventsExportQuery = Static<typeof PaymentEventsExportQuery>;

const item = {
  provider: Type.String({ examples: ['paddle'] }),
  event_id: Type.String({ examples: ['evt_01hv8x29kz0t586xy6zn1a62ny'] }),
  type: Type.String({ examples: ['transaction.completed'] }),
  state: oneOf(PAYMENT_EVENT_STATES, { examples: ['failed'] }),
  ...reportedFields,
  message: nullableString({
    description: 'Why it was ignored, deferred or failed, or the reason of the dismissal.',
    examples: ['The data of transaction.completed lack data.items.'],
  }),
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

export const PaymentEventItem = Type.Object(item, { $id: 'PaymentEventItem' });
export type PaymentEventItem = Static<typeof PaymentEventItem>;

export const PaymentEventList = listOf(PaymentEventItem, 'PaymentEventList');
export type PaymentEventList = Static<typeof PaymentEventList>;

/** The path of an operation on one payment event. */
export const PaymentEventPath = Type.Object({
  provider: text({ maxLength: MAX_ID_LENGTH, examples: ['paddle'] }),
  event_id: text({ maxLength: MAX_ID_LENGTH, examples: ['evt_01hv8x29kz0t586xy6zn1a62ny'] }),
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

export const PaymentPayload = Type.Object(
  {
    payload: Type.String({ description: 'The body as the provider sent it, indented if JSON.' }),
    headers: textMap({
      description: 'The headers that are needed to read the body; never the signature.',
    }),
  },
  { $id: 'PaymentPayload' },
);
export type PaymentPayload = Static<typeof PaymentPayload>;

export const PaymentReasonRequest = Type.Object({ reason }, { $id: 'PaymentReasonRequest' });
export type PaymentReasonRequest = Static<typeof PaymentReasonRequest>;

const selection = {
  provider: Type.Optional(providerName),
  type: Type.Optional(eventType),
  since,
  until,
  reason,
};

export const PaymentReplayRequest = Type.Object(
  {
    state: oneOf(REPLAYABLE_STATES, { examples: ['failed'] }),
    ...selection,
    cursor: Type.Optional(
      text({
        description:
          'The `next_cursor` of the call before: a call replays 50 events, the oldest first.',
        maxLength: 1_000,
      }),
    ),
  },
  { $id: 'PaymentReplayRequest' },
);
export type PaymentReplayRequest = Static<typeof PaymentReplayRequest>;

export const PaymentDismissRequest = Type.Object(
  { state: oneOf(['failed', 'deferred'], { examples: ['failed'] }), ...selection },
  { $id: 'PaymentDismissRequest' },
);
export type PaymentDismissRequest = Static<typeof PaymentDismissRequest>;

const ReplayedPayment = Type.Object(
  {
    provider: item.provider,
    event_id: item.event_id,
    type: item.type,
    state: oneOf([...PAYMENT_EVENT_STATES, 'removed'], {
      description: '`removed`: the body is gone, so that nothing was done.',
      examples: ['applied'],
    }),
    message: item.message,
  },
  { $id: 'ReplayedPayment' },
);

export const PaymentReplay = Type.Object(
  {
    outcomes: Type.Array(ref(ReplayedPayment)),
    next_cursor: nullableString({
      description: 'The `cursor` of the next call; null when no event is left.',
    }),
  },
  { $id: 'PaymentReplay' },
);
export type PaymentReplay = Static<typeof PaymentReplay>;

export const PaymentDismissal = Type.Object(
  { dismissed: Type.Integer({ examples: [12] }) },
  { $id: 'PaymentDismissal' },
);
export type PaymentDismissal = Static<typeof PaymentDismissal>;

export const PaymentTestDataDeletion = Type.Object(
  {
    events: Type.Integer({ examples: [14] }),
    licenses: Type.Integer({ examples: [3] }),
  },
  { $id: 'PaymentTestDataDeletion', description: 'How much was deleted.' },
);
export type PaymentTestDataDeletion = Static<typeof PaymentTestDataDeletion>;

export const PaymentReconciliationRequest = Type.Object(
  {
    since: Type.Optional(
      text({
        description:
          'Compares events since this date (00:00 UTC) or date-time, without moving the start of the next comparison; default: continues where the last comparison ended.',
        maxLength: MAX_TIME_LENGTH,
        examples: ['2026-11-01'],
      }),
    ),
  },
  { $id: 'PaymentReconciliationRequest' },
);
export type PaymentReconciliationRequest = Static<typeof PaymentReconciliationRequest>;

export const PaymentReconciliation = Type.Object(
  {
    compared: Type.Integer({ description: 'How many events were compared.', examples: [1_000] }),
    repaired: Type.Array(ref(ReplayedPayment), {
      description: 'The missing events, which were applied now.',
    }),
    reached_end: Type.Boolean({
      description: 'False: the log of the provider continues; another call continues there.',
    }),
    failure: nullableString({
      description:
        'Why the comparison ended early; events that were applied before that stay applied.',
      examples: ["Cannot read Paddle's event log: Paddle answered 403."],
    }),
  },
  { $id: 'PaymentReconciliation' },
);
export type PaymentReconciliation = Static<typeof PaymentReconciliation>;

const PaymentProvider = Type.Object(
  {
    provider: Type.String({ examples: ['paddle'] }),
    configured: Type.Boolean({ description: 'Whether its signing secret is set.' }),
    last_received_at: nullable(dateTime({ examples: ['2026-11-20T10:00:01.000Z'] })),
  },
  { $id: 'PaymentProvider' },
);

export const PaymentSummary = Type.Object(
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

/** The named schemas of payments, for the interface document. */
export const paymentSchemas = [
  PaymentEventItem,
  PaymentEventList,
  PaymentEffect,
  PaymentLicense,
  PaymentEvent,
  PaymentPayload,
  PaymentReasonRequest,
  PaymentReplayRequest,
  PaymentDismissRequest,
  ReplayedPayment,
  PaymentReplay,
  PaymentDismissal,
  PaymentTestDataDeletion,
  PaymentReconciliationRequest,
  PaymentReconciliation,
  PaymentProvider,
  PaymentSummary,
];
