import type { BillingFact, BillingProvider } from '../facts.ts';
import { month } from './facts.fixture.ts';
import type { AdoptableLicense } from './plan-licenses.ts';

/** A license as its buyer finds it. */
interface ExpectedState {
  readonly productId: string;
  readonly machines: number;
  readonly expiresAt: Date | null;
  readonly isRefunded: boolean;
  readonly isCanceled: boolean;
  readonly isPaused: boolean;
  readonly isDisputed: boolean;
  readonly hasGrace: boolean;
  /** Whether a license from elsewhere goes on. */
  readonly isAdopted: boolean;
}

/** A history of a purchase that is hard to get right, named after what its buyer or seller would say. */
export interface BuyerHistory {
  readonly name: string;
  /** Default: Paddle. */
  readonly provider?: BillingProvider;
  readonly facts: readonly BillingFact[];
  /** Imported licenses. */
  readonly elsewhere?: readonly AdoptableLicense[];
  /** Licenses, and the cause for which an event needs attention. */
  readonly expected: { readonly licenses?: readonly ExpectedState[]; readonly cause?: RegExp };
}

/** The license of the first month. */
export const PERSONAL: ExpectedState = {
  productId: 'personal',
  machines: 2,
  expiresAt: month(4),
  isRefunded: false,
  isCanceled: false,
  isPaused: false,
  isDisputed: false,
  hasGrace: true,
  isAdopted: false,
};
