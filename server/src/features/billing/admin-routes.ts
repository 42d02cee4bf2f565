/** Payment events for operators: list, show, replay, repair, dismiss, and the comparison with the provider. */
import {
  deletePaymentTestData,
  dismissPaymentEvent,
  dismissPaymentEvents,
  paymentEvents,
  reconcilePayments,
  repairPaymentEvent,
  replayPaymentEvent,
  replayPaymentEvents,
  revealPaymentPayload,
  showPaymentEvent as showOperation,
  summarizePayments as summaryOperation,
  type PaymentReconciliation,
} from '@latchkey/contract';

import type { App } from '#server/http/app-instance.ts';
import { OWN_SLOTS } from '#server/http/database-slots.ts';
import { serveOperation } from '#server/http/serve-operation.ts';
import { readTimeFilter } from '#server/lib/read-time-filter.ts';
import { createSerialLimiter } from '#server/lib/concurrency-limiter.ts';

import { serveList } from '../lists/serve-list.ts';
import {
  dismissAll,
  dismissOne,
  replayNext,
  replayOne,
  viewOutcome,
} from './change-payment-events.ts';
import { deleteTestData } from './delete-test-data.ts';
import type { BillingDependencies } from './dependencies.ts';
import { paymentEventSource } from './list-payment-events.ts';
import { readRepair, repairPayment } from './repair-payment.ts';
import { runReconciliation, type RequestedReconciliation } from './run-reconciliation.ts';
import { revealPayload, showPaymentEvent } from './show-payment-event.ts';
import { summarizePayments } from './summarize-payments.ts';

export function registerPaymentEventRoutes(app: App, deps: BillingDependencies): void {
  serveList(app, deps, paymentEvents, paymentEventSource(deps));
  serveOperation(app, summaryOperation, () => summarizePayments(deps));
  serveOperation(app, showOperation, ({ params }) => showPaymentEvent(deps, params));
  serveOperation(app, revealPaymentPayload, ({ params, operator }) =>
    revealPayload(deps, params, operator.actor),
  );
  registerChanges(app, deps);
  registerReconciliation(app, deps);
}

function registerChanges(app: App, deps: BillingDependencies): void {
  serveOperation(app, replayPaymentEvent, ({ params, body, operator: { actor } }) =>
    replayOne(deps, params, { actor, reason: body.reason }),
  );
  serveOperation(app, dismissPaymentEvent, async ({ params, body, operator: { actor } }) => ({
    dismissed: await dismissOne(deps, params, { actor, reason: body.reason }),
  }));
  serveOperation(app, repairPaymentEvent, async ({ params, body, operator: { actor } }) => {
    await repairPayment(deps, params, readRepair(body), { actor, reason: body.reason });
    return showPaymentEvent(deps, params);
  });
  serveOperation(app, replayPaymentEvents, ({ body, operator }) =>
    replayNext(deps, body, operator.actor),
  );
  serveOperation(app, dismissPaymentEvents, async ({ body, operator }) => ({
    dismissed: await dismissAll(deps, body, operator.actor),
  }));
  serveOperation(app, deletePaymentTestData, ({ body, operator: { actor } }) =>
    deleteTestData(deps, { actor, reason: body.reason }),
  );
}

function registerReconciliation(app: App, deps: BillingDependencies): void {
  // One at a time: a comparison may read the provider for minutes, and apply missed events.
  const comparisons = createSerialLimiter(30);
  serveOperation(
    app,
    reconcilePayments,
    async ({ body, operator: { actor } }) => {
      const since = readTimeFilter('body', 'since', body.since);
      // With a given start, a comparison has no cursor at which another call could continue.
      const scope = since === undefined ? { since: null } : { since, unlimited: true };
      return viewReconciliation(
        await comparisons.run(() => runReconciliation(deps, { actor, ...scope })),
      );
    },
    OWN_SLOTS,
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
