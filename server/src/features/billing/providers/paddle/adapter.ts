import type { BillingAdapter } from '../adapter.ts';
import { normalizePaddle } from './normalize.ts';
import { verifyPaddle } from './verify.ts';

/** Paddle Billing. */
export const paddleAdapter: BillingAdapter = {
  provider: 'paddle',
  verify: verifyPaddle,
  normalize: normalizePaddle,
};
