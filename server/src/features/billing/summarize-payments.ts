import { PAYMENT_PROVIDERS, type PaymentSummary } from '@latchkey/contract';
import type { Pool } from 'pg';

import type { BillingDependencies } from './dependencies.ts';
import { countUnappliedEvents } from './queries/events.ts';
import {
  countUnmatchedEvents,
  findLastReceipts,
  listEventTypes,
} from './queries/operator-events.ts';
import { findReconciliation } from './queries/reconciliations.ts';

const MAX_UNMATCHED = 1_000;
const MAX_TYPES = 200;

/** Summarizes the payment events: what needs an operator, the providers, and the comparison with Paddle's event log. */
export async function summarizePayments({
  pool,
  paddleApi,
  webhookSecrets,
}: Pick<BillingDependencies, 'paddleApi' | 'pool' | 'webhookSecrets'>): Promise<PaymentSummary> {
  const { failed, deferred } = await countUnappliedEvents(pool);
  const receipts = await findLastReceipts(pool, PAYMENT_PROVIDERS);
  return {
    failed,
    deferred,
    unmatched: await countUnmatchedEvents(pool, MAX_UNMATCHED),
    providers: PAYMENT_PROVIDERS.map((provider) => ({
      provider,
      configured: webhookSecrets[provider].length > 0,
      last_received_at: receipts.get(provider)?.toISOString() ?? null,
    })),
    types: await listEventTypes(pool, MAX_TYPES),
    reconciliation: await summarizeReconciliation(pool, paddleApi !== null),
  };
}

async function summarizeReconciliation(
  pool: Pool,
  configured: boolean,
): Promise<PaymentSummary['reconciliation']> {
  const record = await findReconciliation(pool, 'paddle');
  return {
    configured,
    reconciled_at: record?.reconciledAt?.toISOString() ?? null,
    failed_at: record?.failedAt?.toISOString() ?? null,
    failure: record?.failure ?? null,
  };
}
