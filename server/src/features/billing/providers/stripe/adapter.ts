import type { BillingAdapter } from '../adapter.ts';
import { normalizeStripe } from './normalize.ts';
import { verifyStripe } from './verify.ts';

/** Stripe: checkouts, invoices, subscriptions, refunds and disputes. */
export const stripeAdapter: BillingAdapter = {
  provider: 'stripe',
  verify: verifyStripe,
  normalize: normalizeStripe,
};
