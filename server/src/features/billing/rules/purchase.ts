import type { Product } from '#server/config/catalog-model.ts';

import type { AdjustmentFact, BillingProvider, PaymentFact, SubscriptionFact } from '../facts.ts';

/**
 * All that is known of one purchase: of a checkout, and of the subscription that it began. In any order of arrival the
 * same facts make the same purchase, so the same licenses.
 */
export interface PurchaseFacts {
  readonly provider: BillingProvider;
  /** Every payment of the checkout and of its subscription, the oldest first, each as it was last told. */
  readonly payments: readonly PaymentFact[];
  /** Every snapshot of the subscription, the oldest first. */
  readonly snapshots: readonly SubscriptionFact[];
  /** The newest word on each adjustment of those payments, from the moment when it was first so. */
  readonly adjustments: readonly AdjustmentFact[];
}

/** What a license of a purchase is to be. */
export interface LicenseDraft {
  /** The checkout that made it. */
  readonly transactionId: string;
  /** The id by which the front end knows the checkout: the only one that is answered. */
  readonly checkoutId: string;
  /** Which of the checkout's licenses it is: `recurring:0`, `once:1`, by the provider's order of lines. */
  readonly lineKey: string;
  /** The place of its line in the checkout, from 0. */
  readonly position: number;
  /** What its line sells now, or else sold before; null: nothing that the catalogue names. */
  readonly product: Product | null;
  readonly priceId: string;
  readonly quantity: number;
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
