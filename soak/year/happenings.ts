/** What happens in a shop, before a provider writes it in its own form. Days count from the start of the year. */

import type { Market } from './money.ts';

export const PROVIDERS = [
  'paddle',
  'stripe',
  'lemonsqueezy',
  'polar',
  'dodo',
  'creem',
  'fastspring',
  'gumroad',
  'standard',
] as const;

export type ProviderName = (typeof PROVIDERS)[number];

export const PRODUCTS = ['personal', 'pro', 'team', 'seat', 'desk', 'studio', 'tool'] as const;

/** A plan of the shop: its prices are named alike at each provider. */
export interface Plan {
  readonly name: string;
  /** The name at providers that use numbers. */
  readonly number: number;
  readonly product: string | null;
  /** In euro cents, with tax. */
  readonly amount: number;
  /** Null: sold once. */
  readonly cycle: 'month' | 'year' | null;
}

export const PLANS = {
  month: { name: 'month', number: 201, product: 'pro', amount: 1_000, cycle: 'month' },
  team: { name: 'team', number: 301, product: 'team', amount: 3_000, cycle: 'month' },
  year: { name: 'year', number: 202, product: 'pro', amount: 9_900, cycle: 'year' },
  once: { name: 'once', number: 101, product: 'personal', amount: 4_900, cycle: null },
  /** Sold in a quantity, of which each is a key. */
  seat: { name: 'seat', number: 102, product: 'seat', amount: 2_500, cycle: null },
  /** Two products that end after {@link TERM_DAYS}, and can be renewed and upgraded. */
  desk: { name: 'desk', number: 103, product: 'desk', amount: 1_900, cycle: null },
  studio: { name: 'studio', number: 104, product: 'studio', amount: 3_900, cycle: null },
  /** A product with updates for {@link TERM_DAYS}, and what renews them. */
  tool: { name: 'tool', number: 105, product: 'tool', amount: 5_900, cycle: null },
  upkeep: { name: 'upkeep', number: 106, product: 'tool', amount: 2_100, cycle: null },
  unknown: { name: 'unknown', number: 901, product: null, amount: 700, cycle: null },
} as const satisfies Record<string, Plan>;

/** How long terms and updates last. */
export const TERM_DAYS = 90;

export interface Buyer {
  readonly number: number;
  readonly provider: ProviderName;
  readonly email: string;
  readonly market: Market;
  /** The number of the customer at the provider. Absent: that of the buyer. */
  readonly customer?: number;
  /** Who gets the license as a gift; null: the buyer. */
  readonly giftTo?: string | null;
}

/** What the seller's checkout adds to the custom data. */
export interface CustomData {
  readonly license_id?: string;
  readonly license_key?: string;
  readonly gift_to?: string;
}

interface Happening {
  /** In days; fractions are hours. */
  readonly day: number;
  readonly buyer: Buyer;
  readonly plan: Plan;
  /** Default: 1. */
  readonly quantity?: number;
  /** Default: none. */
  readonly custom?: CustomData;
}

/** A payment that the buyer made. */
export interface Paid extends Happening {
  readonly kind: 'paid';
  readonly number: number;
  readonly origin: 'purchase' | 'renewal' | 'change';
  /** With tax, in the smallest unit of the buyer's currency. */
  readonly amount: number;
  readonly tax: number;
  /** What it pays, in days; null: forever. */
  readonly from: number;
  readonly until: number | null;
  /** What the credit of a change replaces, in days. */
  readonly credit?: { readonly plan: Plan; readonly until: number };
}

/** The state of a subscription. */
export interface State extends Happening {
  readonly kind: 'state';
  readonly status: 'active' | 'trialing' | 'past_due' | 'paused' | 'canceled';
  readonly isFirst: boolean;
  readonly from: number;
  readonly until: number;
}

/** Money that goes back. */
export interface Returned extends Happening {
  readonly kind: 'refunded' | 'disputed' | 'won';
  readonly payment: Paid;
  readonly amount: number;
  /** The tax of this part of the payment. */
  readonly tax: number;
}

export type AnyHappening = Paid | State | Returned;

export const YEAR_START = new Date('2026-01-01T00:00:00.000Z');
const DAY_MS = 86_400_000;

/** Converts days of the year into a time, to the second, because Stripe reports seconds. */
export function toDate(day: number): Date {
  return new Date(YEAR_START.getTime() + Math.round(day * 86_400) * 1_000);
}

/** Converts a time into days of the year. */
export function toDay(time: Date): number {
  return (time.getTime() - YEAR_START.getTime()) / DAY_MS;
}

/** Adds a month or year to a day, as the calendar does. */
export function addCycle(day: number, cycle: 'month' | 'year'): number {
  const from = toDate(day);
  const end = new Date(from);
  end.setUTCMonth(end.getUTCMonth() + (cycle === 'month' ? 1 : 12));
  if (end.getUTCDate() !== from.getUTCDate()) end.setUTCDate(0);
  return toDay(end);
}
