/** What the shops of the demo sell, and the events that their payment providers report. */
import { DAY_MS } from '../time.ts';

/** The payment providers of the demo. */
export type ShopProvider = 'paddle' | 'stripe' | 'lemonsqueezy' | 'standard';

export type Cycle = 'month' | 'year';

/** A way to buy a product. */
export interface Plan {
  readonly product: 'home' | 'studio' | 'team';
  readonly name: string;
  /** Null: paid once. */
  readonly cycle: Cycle | null;
  /** In cents, tax included, for one unit. */
  readonly amount: number;
  readonly prices: Readonly<Record<ShopProvider, string>>;
}

/** A purchase. */
export interface Sale {
  readonly provider: ShopProvider;
  readonly plan: Plan;
  readonly quantity: number;
  readonly at: Date;
  readonly buyer: { readonly name: string; readonly email: string; readonly locale: string };
  /** Symbols from which the provider's ids of this purchase are made. */
  readonly token: string;
  /** A number from which the numeric ids are made. */
  readonly number: number;
}

/** An event as a provider sends it. */
export interface ShopEvent {
  readonly provider: ShopProvider;
  readonly at: Date;
  readonly body: object;
  readonly headers: Readonly<Record<string, string>>;
}

/** A change of a subscription. */
export interface SubscriptionChange {
  readonly kind: 'past_due' | 'paused' | 'canceled' | 'cancel_scheduled';
  readonly at: Date;
  /** The number of the period that is paid: 0 begins with the purchase. */
  readonly period: number;
}

/** Money that goes back to the buyer. */
export interface MoneyBack {
  readonly kind: 'refund' | 'partial_refund' | 'dispute';
  readonly at: Date;
}

/** The events of one payment provider. */
export interface Shop {
  /** All ids under which the purchase may be stored. */
  listTransactionIds(sale: Sale): readonly string[];
  purchase(sale: Sale): readonly ShopEvent[];
  /** @param count 1: the first renewal */
  renew(sale: Sale, count: number): readonly ShopEvent[];
  change(sale: Sale, change: SubscriptionChange): readonly ShopEvent[];
  moneyBack(sale: Sale, change: MoneyBack): readonly ShopEvent[];
}

/** Returns the start of a paid period: 0 is the purchase. */
export function startOfPeriod({ at, plan }: Sale, count: number): Date {
  const start = new Date(at);
  if (plan.cycle === 'year') start.setUTCFullYear(start.getUTCFullYear() + count);
  else if (plan.cycle === 'month') start.setTime(at.getTime() + count * 30 * DAY_MS);
  return start;
}

export function totalOf({ plan, quantity }: Sale): number {
  return plan.amount * quantity;
}

/** Paddle and Lemon Squeezy write microseconds. */
export function writeMicroseconds(time: Date | null): string | null {
  return time === null ? null : time.toISOString().replace('Z', '000Z');
}
