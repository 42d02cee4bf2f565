/** Payment events for operators: list, show, replay, dismiss, and the comparison with the provider. */
import {
  PaymentDismissal,
  PaymentDismissRequest,
  PaymentEvent,
  PaymentEventList,
  PaymentEventPath,
  PaymentEventsExportQuery,
  PaymentEventsQuery,
  PaymentPayload,
  PaymentReasonRequest,
  PaymentReconciliation,
  PaymentReconciliationRequest,
  PaymentRepairRequest,
  PaymentReplay,
  PaymentReplayRequest,
  PaymentSummary,
  PaymentTestDataDeletion,
  ref,
  type Reported,
} from '@latchkey/contract';
import type { FastifySchema } from 'fastify';

import {
  answerPage,
  csvAnswer,
  readOrder,
  readPageRequest,
  answerCsv,
} from '#server/http/admin-list.ts';
import type { App } from '#server/http/app-instance.ts';
import { OWN_SLOTS } from '#server/http/database-slots.ts';
import {
  ADMIN,
  SUPPORT,
  SUPPORT_FRESH,
  VIEWER,
  operatorOf,
} from '#server/http/require-operator.ts';
import { readTimeFilter } from '#server/lib/read-time-filter.ts';
import { createSerialLimiter } from '#server/lib/concurrency-limiter.ts';
import type { CsvColumns } from '#server/lib/csv.ts';

import {
  dismissAll,
  dismissOne,
  replayNext,
  replayOne,
  viewOutcome,
} from './change-payment-events.ts';
import { deleteTestData } from './delete-test-data.ts';
import type { BillingDependencies } from './dependencies.ts';
import {
  exportPaymentEvents,
  listPaymentEvents,
  toPaymentEventItem,
} from './list-payment-events.ts';
import { readRepair, repairPayment } from './repair-payment.ts';
import { runReconciliation, type RequestedReconciliation } from './run-reconciliation.ts';
import { revealPayload, showPaymentEvent } from './show-payment-event.ts';
import { summarizePayments } from './summarize-payments.ts';

const PATH = '/api/v1/admin/payment-events';
const EVENT = `${PATH}/:provider/:event_id`;
const TAGS = ['admin: payments'];
const DEFAULT_SORT = '-received_at';

type ListedPaymentEvent = Awaited<ReturnType<typeof listPaymentEvents>>['rows'][number];

const COLUMNS: CsvColumns<ListedPaymentEvent> = {
  provider: (event) => event.provider,
  event_id: (event) => event.eventId,
  type: (event) => event.type,
  state: (event) => toPaymentEventItem(event).state,
  kind: ({ reported }) => reported.kind,
  products: ({ reported }) => nameSold(reported),
  amount: ({ reported }) => reported.amount_text,
  currency: ({ reported }) => reported.currency,
  country: ({ reported }) => reported.country,
  reported: ({ reported }) => reported.reported,
  message: (event) => event.message,
  attempts: (event) => event.attempts,
  occurred_at: (event) => event.occurredAt,
  received_at: (event) => event.receivedAt,
  next_attempt_at: (event) => event.nextAttemptAt,
};

/** Ids of products, separated by spaces. */
function nameSold({ products }: Reported): string {
  return products.map(({ product_id: id, price_id: price }) => id ?? price ?? '').join(' ');
}

export function registerPaymentEventRoutes(app: App, deps: BillingDependencies): void {
  app.get(PATH, { config: VIEWER, schema: listOperation }, (request) =>
    answerPage(
      readPageRequest(request.query, DEFAULT_SORT),
      (page) => listPaymentEvents(deps, page, request.query),
      toPaymentEventItem,
    ),
  );
  app.get(
    `${PATH}/export`,
    { config: SUPPORT_FRESH, schema: exportOperation },
    async (request, reply) => {
      const { actor } = operatorOf(request);
      const order = readOrder(request.query, DEFAULT_SORT);
      const events = await exportPaymentEvents(deps, order, request.query, actor);
      return answerCsv(reply, 'payment-events', COLUMNS, events);
    },
  );
  app.get(`${PATH}/summary`, { config: VIEWER, schema: summaryOperation }, () =>
    summarizePayments(deps),
  );
  app.get(EVENT, { config: VIEWER, schema: showOperation }, (request) =>
    showPaymentEvent(deps, request.params),
  );
  app.post(`${EVENT}/reveal`, { config: SUPPORT, schema: revealOperation }, (request) =>
    revealPayload(deps, request.params, operatorOf(request).actor),
  );
  registerChanges(app, deps);
}

function registerChanges(app: App, deps: BillingDependencies): void {
  // One at a time: a comparison may read the provider for minutes, and apply missed events.
  const comparisons = createSerialLimiter(30);
  app.post(`${EVENT}/replay`, { config: ADMIN, schema: replayOneOperation }, (request) => {
    const { actor } = operatorOf(request);
    return replayOne(deps, request.params, { actor, reason: request.body.reason });
  });
  app.post(`${EVENT}/dismiss`, { config: ADMIN, schema: dismissOneOperation }, async (request) => {
    const { actor } = operatorOf(request);
    const { reason } = request.body;
    return { dismissed: await dismissOne(deps, request.params, { actor, reason }) };
  });
  app.post(`${EVENT}/repair`, { config: ADMIN, schema: repairOperation }, async (request) => {
    const { actor } = operatorOf(request);
    const { params, body } = request;
    await repairPayment(deps, params, readRepair(body), { actor, reason: body.reason });
    return showPaymentEvent(deps, params);
  });
  app.post(`${PATH}/replay`, { config: ADMIN, schema: replayOperation }, (request) =>
    replayNext(deps, request.body, operatorOf(request).actor),
  );
  app.post(`${PATH}/dismiss`, { config: ADMIN, schema: dismissOperation }, async (request) => ({
    dismissed: await dismissAll(deps, request.body, operatorOf(request).actor),
  }));
  app.post(
    `${PATH}/delete-test-data`,
    { config: ADMIN, schema: deleteTestDataOperation },
    (request) =>
      deleteTestData(deps, { actor: operatorOf(request).actor, reason: request.body.reason }),
  );
  app.post(
    `${PATH}/reconcile`,
    { config: { ...ADMIN, ...OWN_SLOTS }, schema: reconcileOperation },
    async (request) => {
      const { actor } = operatorOf(request);
      const since = readTimeFilter('body', 'since', request.body.since);
      // With a start of its own, a comparison has no cursor at which another call could continue.
      const scope = since === undefined ? { since: null } : { since, unlimited: true };
      return viewReconciliation(
        await comparisons.run(() => runReconciliation(deps, { actor, ...scope })),
      );
    },
  );
}

function viewReconciliation({
  compared,
  repaired,
  reachedEnd,
  failure,
}: RequestedReconciliation): PaymentReconciliation {
  return {
    compared,
    repaired: repaired.map(({ provider = 'paddle', eventId, type, status }) =>
      viewOutcome({
        provider,
        eventId,
        type,
        status: status === 'deferred' ? 'deferred' : 'processed',
        message: null,
      }),
    ),
    reached_end: reachedEnd,
    failure,
  };
}

const listOperation = {
  operationId: 'listPaymentEvents',
  tags: TAGS,
  summary: 'List payment events',
  querystring: PaymentEventsQuery,
  response: { 200: ref(PaymentEventList, 'A page of the events, the newest first.') },
} satisfies FastifySchema;

const exportOperation = {
  operationId: 'exportPaymentEvents',
  tags: TAGS,
  summary: 'Export payment events as CSV',
  querystring: PaymentEventsExportQuery,
  response: csvAnswer('The events of the filter.'),
} satisfies FastifySchema;

const summaryOperation = {
  operationId: 'summarizePayments',
  tags: TAGS,
  summary: 'Count the payment events that need an operator',
  response: { 200: ref(PaymentSummary, 'The counts, the providers and the stored types.') },
} satisfies FastifySchema;

const showOperation = {
  operationId: 'showPaymentEvent',
  tags: TAGS,
  summary: 'Show a payment event',
  params: PaymentEventPath,
  response: { 200: ref(PaymentEvent, 'The event, what it did, and its licenses.') },
  problems: ['not_found'],
} satisfies FastifySchema;

const revealOperation = {
  operationId: 'revealPaymentPayload',
  tags: TAGS,
  summary: 'Reveal the payload of a payment event',
  description: 'It contains personal data, so the audit log records the reveal.',
  params: PaymentEventPath,
  response: { 200: ref(PaymentPayload, 'The body as the provider sent it.') },
  problems: ['not_found'],
} satisfies FastifySchema;

const replayOneOperation = {
  operationId: 'replayPaymentEvent',
  tags: TAGS,
  summary: 'Replay a payment event',
  description: 'Applies it again. An event that was applied before changes nothing.',
  params: PaymentEventPath,
  body: ref(PaymentReasonRequest),
  response: { 200: ref(PaymentReplay, 'The outcome of the replay.') },
  problems: ['not_found'],
} satisfies FastifySchema;

const dismissOneOperation = {
  operationId: 'dismissPaymentEvent',
  tags: TAGS,
  summary: 'Dismiss a payment event',
  description:
    'A failed or deferred event is neither retried nor counted any more. It stays stored.',
  params: PaymentEventPath,
  body: ref(PaymentReasonRequest),
  response: { 200: ref(PaymentDismissal, 'The event is dismissed.') },
  problems: ['not_found', 'conflict'],
} satisfies FastifySchema;

const repairOperation = {
  operationId: 'repairPaymentEvent',
  tags: TAGS,
  summary: 'Repair a payment',
  description:
    'Stores what the operator says as a fact beside those of the provider, and computes the licenses of the purchase again. Replays keep it.',
  params: PaymentEventPath,
  body: ref(PaymentRepairRequest),
  response: { 200: ref(PaymentEvent, 'The event after the repair.') },
  problems: ['not_found', 'not_possible'],
} satisfies FastifySchema;

const replayOperation = {
  operationId: 'replayPaymentEvents',
  tags: TAGS,
  summary: 'Replay all payment events of a filter',
  description: 'A call replays 50 events, the oldest first; the next call continues at the cursor.',
  body: ref(PaymentReplayRequest),
  response: { 200: ref(PaymentReplay, 'The outcome of each event.') },
} satisfies FastifySchema;

const dismissOperation = {
  operationId: 'dismissPaymentEvents',
  tags: TAGS,
  summary: 'Dismiss all payment events of a filter',
  body: ref(PaymentDismissRequest),
  response: { 200: ref(PaymentDismissal, 'How many events were dismissed.') },
} satisfies FastifySchema;

const deleteTestDataOperation = {
  operationId: 'deletePaymentTestData',
  tags: TAGS,
  summary: 'Delete what the test modes of payment providers created',
  description:
    'Deletes their events, payments and customers, and the licenses of test purchases with their machines.',
  body: ref(PaymentReasonRequest),
  response: { 200: ref(PaymentTestDataDeletion, 'How much was deleted.') },
} satisfies FastifySchema;

const reconcileOperation = {
  operationId: 'reconcilePayments',
  tags: TAGS,
  summary: "Compare Paddle's event log and Gumroad's sales with the received events",
  description:
    'Applies the missing events. Events of the last hour are skipped, since their webhooks may still arrive.',
  body: ref(PaymentReconciliationRequest),
  response: { 200: ref(PaymentReconciliation, 'What was compared and applied.') },
} satisfies FastifySchema;
