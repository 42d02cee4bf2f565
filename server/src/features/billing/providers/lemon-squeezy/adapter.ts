import type { BillingAdapter } from '../adapter.ts';
import { normalizeLemonSqueezy } from './normalize.ts';
import { verifyLemonSqueezy } from './verify.ts';

/** Lemon Squeezy: orders, subscriptions and their invoices. */
export const lemonSqueezyAdapter: BillingAdapter = {
  provider: 'lemonsqueezy',
  verify: verifyLemonSqueezy,
  normalize: normalizeLemonSqueezy,
};
