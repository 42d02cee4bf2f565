import type { PriceProvider } from '#server/config/catalog-model.ts';

/** The payment providers, as the catalogue's prices name them. */
export type BillingProvider = PriceProvider;

/**
 * What a provider's event says, in the words of this service. One event may say several things: Stripe's
 * `charge.refunded` is a refund, Paddle's `transaction.completed` a payment.
 */
export interface BillingEvent {
  readonly provider: BillingProvider;
  /** The provider's id of the event, the same at each delivery; at most 200 characters. */
  readonly eventId: string;
  /** As the provider names it, such as `transaction.completed`. */
  readonly type: string;
  readonly occurredAt: Date;
  readonly facts: readonly BillingFact[];
  /** Why nothing follows from it, when nothing does; a sentence for people. */
  readonly ignoredBecause: string | null;
}

/**
 * When something occurred, as precisely as the provider reports it: Paddle and Lemon Squeezy write microseconds, Stripe
 * whole seconds. Order facts by `compareOccurrences`, never by `occurredAt` alone.
 */
export interface Occurrence {
  readonly occurredAt: Date;
  /** Nanoseconds to add to `occurredAt`, up to 999,999; 0 when absent. */
  readonly occurredNanos?: number;
}

/** One thing that an event says. */
export type BillingFact = PaymentFact | SubscriptionFact | AdjustmentFact | CustomerFact;

/** A span of time that was paid for, or is to be. */
export interface BillingPeriod {
  readonly startsAt: Date;
  readonly endsAt: Date;
}

/** How often a price is paid; null on a line that is paid once. */
export interface BillingCycle {
  readonly interval: 'day' | 'week' | 'month' | 'year';
  readonly frequency: number;
}

/** One position of a purchase or a subscription. */
export interface BillingLine {
  /** The provider's id of the position; where it has none, the price's. Identifies the license that the line made. */
  readonly lineId: string;
  readonly priceId: string;
  readonly quantity: number;
  readonly cycle: BillingCycle | null;
  /** In the currency's smallest unit, tax included; null where the provider does not say. */
  readonly total: number | null;
}

/** Money that has come in: entered in a ledger, never changed afterwards. */
export interface PaymentFact extends Occurrence {
  readonly kind: 'payment';
  readonly transactionId: string;
  /**
   * Further ids by which the provider's other events name this payment: a refund Stripe's payment intent, where the
   * payment is an invoice. Each word on a payment may tell some, and all that were told count, whatever the order. They
   * may be guessed: nobody is answered who asks by them.
   */
  readonly aliases?: readonly string[];
  /** The id by which the front end knows the checkout, where that is another one; it cannot be guessed. */
  readonly checkoutId?: string;
  readonly subscriptionId: string | null;
  /** `purchase` makes licenses; `renewal` extends them; `change` is charged in the middle of a period; `other` is only recorded. */
  readonly origin: 'purchase' | 'renewal' | 'change' | 'other';
  readonly customerId: string | null;
  readonly customer: CustomerDetails;
  /** What was paid for; null where the event does not say (a purchase's term then comes from its subscription). */
  readonly period: BillingPeriod | null;
  readonly lines: readonly BillingLine[];
  /** In the currency's smallest unit, tax included; null where the provider does not say. */
  readonly total: number | null;
}

/** How a subscription is at a moment: the newest counts. */
export interface SubscriptionFact extends Occurrence {
  readonly kind: 'subscription';
  readonly subscriptionId: string;
  /** The purchase that began it, where the provider says. */
  readonly transactionId: string | null;
  readonly customerId: string | null;
  readonly customer: CustomerDetails;
  readonly status: 'active' | 'trialing' | 'past_due' | 'paused' | 'canceled';
  /** The present period, paid or not; null while paused and once canceled. */
  readonly period: BillingPeriod | null;
  readonly pausedAt: Date | null;
  readonly canceledAt: Date | null;
  readonly scheduledChange: {
    readonly action: 'cancel' | 'pause' | 'resume';
    readonly effectiveAt: Date;
  } | null;
  readonly lines: readonly BillingLine[];
}

/** Money that goes back, or is fought over. The newest of an id counts. */
export interface AdjustmentFact extends Occurrence {
  readonly kind: 'adjustment';
  readonly adjustmentId: string;
  readonly transactionId: string;
  /**
   * `credit` and warnings of no consequence are `none`: only recorded. A reversal takes back one of its own kind, and that
   * of a chargeback the warning before it, too.
   */
  readonly effect:
    | 'refund'
    | 'chargeback'
    | 'chargeback_reverse'
    | 'chargeback_warning'
    | 'chargeback_warning_reverse'
    | 'none';
  readonly status: 'pending' | 'approved' | 'rejected' | 'reversed';
  /** Whether all of the payment is concerned; null where the provider does not say, and its amounts decide. */
  readonly full: boolean | null;
  /** In the currency's smallest unit, tax included; null where the provider does not say. */
  readonly total: number | null;
  readonly lines: readonly AdjustedLine[];
}

/** The part of an adjustment that concerns one line of the payment. */
interface AdjustedLine {
  readonly lineId: string;
  readonly full: boolean | null;
  readonly total: number | null;
}

/** Who pays. The newest of an id counts. */
export interface CustomerFact extends Occurrence {
  readonly kind: 'customer';
  readonly customerId: string;
  readonly customer: CustomerDetails;
}

/** What is known of a buyer; null for what is not. */
export interface CustomerDetails {
  readonly email: string | null;
  readonly name: string | null;
  /** A language tag (BCP 47), such as `de` or `pt-BR`. */
  readonly locale: string | null;
}

/** Compares for sorting, oldest first, down to the nanosecond; 0 for the same moment. */
export function compareOccurrences(a: Occurrence, b: Occurrence): number {
  const difference = a.occurredAt.getTime() - b.occurredAt.getTime();
  return difference === 0 ? (a.occurredNanos ?? 0) - (b.occurredNanos ?? 0) : difference;
}

/** Returns the moment of a fact with all its digits, to be spread over another fact. */
export function occurrenceOf({ occurredAt, occurredNanos = 0 }: Occurrence): Occurrence {
  return { occurredAt, occurredNanos };
}
