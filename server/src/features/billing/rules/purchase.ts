import type { Product } from '#server/config/catalog-model.ts';

import type { AdjustmentFact, BillingProvider, PaymentFact, SubscriptionFact } from '../facts.ts';

/**
 * All that is known of one purchase: of a checkout, and of the subscription that it began. In any order of arrival the
 * same facts make the same purchase, so the same licenses.
 */
export interface PurchaseFacts {
  readonly provider: BillingProvider;
  /** Every payment of the checkout and of its subscription. */
  readonly payments: readonly PaymentFact[];
  /** The newest snapshot of the subscription. */
  readonly subscription: SubscriptionFact | null;
  /**
   * The oldest snapshot in which the subscription was active or on trial, with a period: the only one whose period is
   * known to be paid, for the ones that open later periods come before their payment.
   */
  readonly opening: SubscriptionFact | null;
  /** The newest word on each adjustment of those payments. */
  readonly adjustments: readonly AdjustmentFact[];
}

/** What a license of a purchase is to be. */
export interface LicenseDraft {
  /** The checkout that made it. */
  readonly transactionId: string;
  /** Which of the checkout's licenses it is: `recurring:0`, `once:1`, by the provider's order of lines. */
  readonly lineKey: string;
  readonly product: Product;
  readonly maxActivations: number;
  readonly subscription: boolean;
  /** The end of the term, or of what was paid; null: perpetual. Never null for a subscription. */
  readonly expiresAt: Date | null;
  readonly cancelScheduledFor: Date | null;
  readonly canceledAt: Date | null;
  readonly pausedAt: Date | null;
  /** Since when the payment is fought over; null: it is not. */
  readonly disputedAt: Date | null;
  readonly refundedAt: Date | null;
}

/** The product that a price stands for, or null. */
export type FindProduct = (priceId: string) => Product | null;
