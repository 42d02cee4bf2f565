/** Billing turns the events of payment providers into facts, and the facts of a purchase into licenses. */
import type { PriceProvider } from '#server/config/catalog-model.ts';

/** The payment providers, named as in the catalogue's prices. */
export type BillingProvider = PriceProvider;

/** Identifies an event; each provider numbers its own. */
export interface EventKey {
  readonly provider: BillingProvider;
  /** The same at each delivery; at most 200 characters. */
  readonly eventId: string;
}

/** The metadata of an event. */
export interface EventHeader extends EventKey {
  /** As named by the provider, such as `transaction.completed`. */
  readonly type: string;
  readonly occurredAt: Date;
}

/**
 * An event of any provider, translated into facts. One event may contain several: Paddle's `transaction.completed` is a
 * payment, Stripe's `charge.refunded` one or more refunds.
 */
export interface BillingEvent extends EventHeader {
  readonly facts: readonly BillingFact[];
  /** Why the event has no effect; null if it has one. A sentence for people. */
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

/** A statement of an event about a payment, subscription, adjustment or customer. */
export type BillingFact = PaymentFact | SubscriptionFact | AdjustmentFact | CustomerFact;

/** A billing period, paid or due. */
export interface BillingPeriod {
  readonly startsAt: Date;
  readonly endsAt: Date;
}

/** The billing interval of a recurring price. */
export interface BillingCycle {
  readonly interval: 'day' | 'week' | 'month' | 'year';
  readonly frequency: number;
}

/** A line item of a purchase or a subscription. */
export interface BillingLine {
  /** The provider's id of the line item, or else of its price. Identifies the license that was created for the line. */
  readonly lineId: string;
  readonly priceId: string;
  readonly quantity: number;
  /** Null for a one-time price. */
  readonly cycle: BillingCycle | null;
  /** In the currency's smallest unit, tax included; null if the provider does not report it. */
  readonly total: number | null;
}

/** A received payment: inserted into a ledger and never changed. */
export interface PaymentFact extends Occurrence {
  readonly kind: 'payment';
  readonly transactionId: string;
  /**
   * Further ids that the provider's other events use for this payment, such as Stripe's payment intent for an invoice.
   * The aliases of all events about a payment count, in any order. They may be guessable, so the interface accepts none
   * of them.
   */
  readonly aliases?: readonly string[];
  /** The id of the checkout that the front end knows, if it differs; it cannot be guessed. */
  readonly checkoutId?: string;
  readonly subscriptionId: string | null;
  /** `purchase` creates licenses; `renewal` extends them; `change` is charged within a period; `other` is only recorded. */
  readonly origin: 'purchase' | 'renewal' | 'change' | 'other';
  readonly customerId: string | null;
  readonly customer: CustomerDetails;
  /** The period paid for; null if not reported (the term of a purchase then comes from its subscription). */
  readonly period: BillingPeriod | null;
  readonly lines: readonly BillingLine[];
  /** In the currency's smallest unit, tax included; null if the provider does not report it. */
  readonly total: number | null;
}

/** A snapshot of a subscription; the newest one counts. */
export interface SubscriptionFact extends Occurrence {
  readonly kind: 'subscription';
  readonly subscriptionId: string;
  /** The purchase that started it, if the provider reports it. */
  readonly transactionId: string | null;
  readonly customerId: string | null;
  readonly customer: CustomerDetails;
  readonly status: 'active' | 'trialing' | 'past_due' | 'paused' | 'canceled';
  /** The current period, paid or not; null while paused and once canceled. */
  readonly period: BillingPeriod | null;
  readonly pausedAt: Date | null;
  readonly canceledAt: Date | null;
  readonly scheduledChange: {
    readonly action: 'cancel' | 'pause' | 'resume';
    readonly effectiveAt: Date;
  } | null;
  readonly lines: readonly BillingLine[];
}

/** A refund or dispute. The newest fact of each id counts. */
export interface AdjustmentFact extends Occurrence {
  readonly kind: 'adjustment';
  readonly adjustmentId: string;
  readonly transactionId: string;
  /**
   * `none` (credits, harmless warnings) is only recorded. A reversal cancels one adjustment of its own kind; that of a
   * chargeback also cancels the warning before it.
   */
  readonly effect:
    | 'refund'
    | 'chargeback'
    | 'chargeback_reverse'
    | 'chargeback_warning'
    | 'chargeback_warning_reverse'
    | 'none';
  readonly status: 'pending' | 'approved' | 'rejected' | 'reversed';
  /** Whether it covers the whole payment; null if the provider does not report it, so that the amounts decide. */
  readonly full: boolean | null;
  /** In the currency's smallest unit, tax included; null if the provider does not report it. */
  readonly total: number | null;
  readonly lines: readonly AdjustedLine[];
}

/** The part of an adjustment that concerns one line of the payment. */
interface AdjustedLine {
  readonly lineId: string;
  readonly full: boolean | null;
  readonly total: number | null;
}

/** The details of a customer. The newest fact of each id counts. */
export interface CustomerFact extends Occurrence {
  readonly kind: 'customer';
  readonly customerId: string;
  readonly customer: CustomerDetails;
}

/** A buyer, as far as known. */
export interface CustomerDetails {
  readonly email: string | null;
  readonly name: string | null;
  /** A language tag (BCP 47), such as `de` or `pt-BR`. */
  readonly locale: string | null;
}

export const UNKNOWN_CUSTOMER: CustomerDetails = { email: null, name: null, locale: null };

/** Compares for sorting, oldest first, down to the nanosecond. */
export function compareOccurrences(a: Occurrence, b: Occurrence): number {
  const difference = a.occurredAt.getTime() - b.occurredAt.getTime();
  return difference === 0 ? (a.occurredNanos ?? 0) - (b.occurredNanos ?? 0) : difference;
}

/** Returns the time of a fact with all its digits, to be spread over another fact. */
export function occurrenceOf({ occurredAt, occurredNanos = 0 }: Occurrence): Occurrence {
  return { occurredAt, occurredNanos };
}
