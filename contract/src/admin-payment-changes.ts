/** Operators replay and dismiss payment events, compare them with the providers, and delete those of test modes. */
import { type Static, Type } from 'typebox';

import { reason } from './admin-list.ts';
import { operation } from './operation.ts';
import {
  eventSelection,
  namedEvent,
  PAYMENT_EVENT_STATES,
  paymentEventPath,
  timeText,
} from './payment-fields.ts';
import { nullableString, oneOf, ref, text } from './schema.ts';

/** The states whose events can be replayed together. */
const REPLAYABLE_STATES = ['failed', 'deferred', 'unmatched', 'ignored'] as const;

const PaymentReasonRequest = Type.Object(
  { reason },
  { $id: 'PaymentReasonRequest', additionalProperties: false },
);

const selection = { ...eventSelection, reason };

const PaymentReplayRequest = Type.Object(
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
  { $id: 'PaymentReplayRequest', additionalProperties: false },
);
export type PaymentReplayRequest = Static<typeof PaymentReplayRequest>;

const PaymentDismissRequest = Type.Object(
  { state: oneOf(['failed', 'deferred'], { examples: ['failed'] }), ...selection },
  { $id: 'PaymentDismissRequest', additionalProperties: false },
);
export type PaymentDismissRequest = Static<typeof PaymentDismissRequest>;

const ReplayedPayment = Type.Object(
  {
    provider: namedEvent.provider,
    event_id: namedEvent.event_id,
    type: namedEvent.type,
    state: oneOf([...PAYMENT_EVENT_STATES, 'removed'], {
      description: '`removed`: the body is gone, so that nothing was done.',
      examples: ['applied'],
    }),
    message: namedEvent.message,
  },
  { $id: 'ReplayedPayment' },
);

const PaymentReplay = Type.Object(
  {
    outcomes: Type.Array(ref(ReplayedPayment)),
    next_cursor: nullableString({
      description: 'The `cursor` of the next call; null when no event is left.',
    }),
  },
  { $id: 'PaymentReplay' },
);
export type PaymentReplay = Static<typeof PaymentReplay>;

const PaymentDismissal = Type.Object(
  { dismissed: Type.Integer({ examples: [12] }) },
  { $id: 'PaymentDismissal' },
);

const PaymentTestDataDeletion = Type.Object(
  {
    events: Type.Integer({ examples: [14] }),
    licenses: Type.Integer({ examples: [3] }),
  },
  { $id: 'PaymentTestDataDeletion', description: 'How much was deleted.' },
);

const PaymentReconciliationRequest = Type.Object(
  {
    since: timeText(
      'Compares events since this date (00:00 UTC) or date-time, without moving the start of the next comparison; default: continues where the last comparison ended.',
    ),
  },
  { $id: 'PaymentReconciliationRequest', additionalProperties: false },
);

const PaymentReconciliation = Type.Object(
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

export const replayPaymentEvent = operation({
  id: 'replayPaymentEvent',
  method: 'POST',
  path: 'payment-events/:provider/:event_id/replay',
  summary: 'Replay a payment event',
  description: 'Applies it again. An event that was applied before changes nothing.',
  permission: 'payment-events:change',
  params: paymentEventPath,
  body: ref(PaymentReasonRequest),
  response: ref(PaymentReplay, 'The outcome of the replay.'),
  errors: ['not_found'],
});

export const dismissPaymentEvent = operation({
  id: 'dismissPaymentEvent',
  method: 'POST',
  path: 'payment-events/:provider/:event_id/dismiss',
  summary: 'Dismiss a payment event',
  description:
    'A failed or deferred event is neither retried nor counted any more. It stays stored.',
  permission: 'payment-events:change',
  params: paymentEventPath,
  body: ref(PaymentReasonRequest),
  response: ref(PaymentDismissal, 'The event is dismissed.'),
  errors: ['not_found', 'conflict'],
});

export const replayPaymentEvents = operation({
  id: 'replayPaymentEvents',
  method: 'POST',
  path: 'payment-events/replay',
  summary: 'Replay all payment events of a filter',
  description: 'A call replays 50 events, the oldest first; the next call continues at the cursor.',
  permission: 'payment-events:change',
  body: ref(PaymentReplayRequest),
  response: ref(PaymentReplay, 'The outcome of each event.'),
});

export const dismissPaymentEvents = operation({
  id: 'dismissPaymentEvents',
  method: 'POST',
  path: 'payment-events/dismiss',
  summary: 'Dismiss all payment events of a filter',
  permission: 'payment-events:change',
  body: ref(PaymentDismissRequest),
  response: ref(PaymentDismissal, 'How many events were dismissed.'),
});

export const deletePaymentTestData = operation({
  id: 'deletePaymentTestData',
  method: 'POST',
  path: 'payment-events/delete-test-data',
  summary: 'Delete what the test modes of payment providers created',
  description:
    'Deletes their events, payments and customers, and the licenses of test purchases with their machines.',
  permission: 'payment-events:delete',
  body: ref(PaymentReasonRequest),
  response: ref(PaymentTestDataDeletion, 'How much was deleted.'),
});

export const reconcilePayments = operation({
  id: 'reconcilePayments',
  method: 'POST',
  path: 'payment-events/reconcile',
  summary: "Compare Paddle's event log and Gumroad's sales with the received events",
  description:
    'Applies the missing events. Events of the last hour are skipped, since their webhooks may still arrive.',
  permission: 'payment-events:change',
  body: ref(PaymentReconciliationRequest),
  response: ref(PaymentReconciliation, 'What was compared and applied.'),
});
