import type { BillingAdapter } from '../adapter.ts';
import { normalizeStandardWebhook } from './normalize.ts';
import { verifyStandardWebhook } from './verify.ts';

/** Any shop that signs by the Standard Webhooks specification and sends this project's own events. */
export const standardWebhooksAdapter: BillingAdapter = {
  provider: 'standard',
  verify: verifyStandardWebhook,
  normalize: normalizeStandardWebhook,
};
