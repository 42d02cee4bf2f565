import type { Books } from './books.ts';
import type { AnyHappening, Buyer, CustomData, Paid, Plan, ProviderName } from './happenings.ts';
import { taxOf, toPrice } from './money.ts';
import { RATES } from './rates.ts';

/** Nothing begins in the last hours of the year, so that it also ends in the year. */
export const YEAR_DAYS = 364;
export const HOUR = 1 / 24;

/** Providers whose webhooks report no disputes, and one that does not report how they end. */
const WITHOUT_DISPUTES: ReadonlySet<ProviderName> = new Set([
  'lemonsqueezy',
  'polar',
  'fastspring',
]);
const WITHOUT_OUTCOMES: ReadonlySet<ProviderName> = new Set(['creem']);

/** A buyer's events, with those that other systems received left out, and the books about them. */
export interface Life {
  readonly account: Books;
  readonly happenings: readonly AnyHappening[];
}

type NewPayment = Pick<Paid, 'day' | 'origin' | 'amount' | 'from' | 'until' | 'credit'> &
  Partial<Pick<Paid, 'plan' | 'quantity' | 'custom'>>;

/** What the lives of buyers have in common. */
export class Person {
  protected readonly happenings: AnyHappening[] = [];
  protected readonly buyer: Buyer;
  protected readonly random: () => number;
  #payments = 0;

  constructor(buyer: Buyer, random: () => number) {
    this.buyer = buyer;
    this.random = random;
  }

  protected chance(rate: number): boolean {
    return this.random() < rate;
  }

  protected between(least: number, most: number): number {
    const days = least + Math.floor(this.random() * (most - least) * 24) * HOUR;
    // FastSpring's periods are whole days.
    return this.buyer.provider === 'fastspring' ? Math.ceil(days) : days;
  }

  /** Returns the price of a plan in the buyer's currency. */
  protected priceOf({ amount }: Plan): number {
    return toPrice(this.buyer.market, amount);
  }

  /** What the checkout of a gift passes through the provider. */
  protected get gift(): CustomData {
    const { giftTo = null } = this.buyer;
    return giftTo === null ? {} : { gift_to: giftTo };
  }

  protected pay(account: Books, paid: NewPayment): Paid {
    this.#payments += 1;
    const { buyer } = this;
    const payment: Paid = {
      kind: 'paid',
      number: this.#payments,
      buyer,
      plan: account.plan,
      quantity: 1,
      custom: this.gift,
      tax: taxOf(buyer.market, paid.amount),
      ...paid,
    };
    this.happenings.push(payment);
    // What was paid before is in the books of another system.
    if (payment.day >= 0) account.pay(payment);
    return payment;
  }

  /** Whether the buyer got all of it back, within two weeks. */
  protected giveBack(account: Books, payment: Paid, before: number): number | null {
    if (!this.chance(RATES.refunded) || payment.amount === 0 || this.#isGumroadGift()) return null;
    const day = payment.day + this.between(0.1, 14);
    if (day >= before) return null;
    const { buyer, plan } = payment;
    const isPartial = this.chance(RATES.refundedInPart);
    const amount = isPartial ? Math.floor(payment.amount / 2) : payment.amount;
    const tax = partOfTax(payment, amount);
    this.happenings.push({ kind: 'refunded', day, buyer, plan, payment, amount, tax });
    if (isPartial) return null;
    account.refund(payment, day);
    return day;
  }

  /** Gumroad does not report which license a gift was that is paid back: an operator ends it. */
  #isGumroadGift(): boolean {
    return this.buyer.provider === 'gumroad' && (this.buyer.giftTo ?? null) !== null;
  }

  protected dispute(account: Books, payment: Paid): void {
    const { provider } = this.buyer;
    if (WITHOUT_DISPUTES.has(provider) || !this.chance(RATES.chargedBack)) return;
    if (this.#isGumroadGift()) return;
    const day = payment.day + this.between(10, 40);
    if (day >= YEAR_DAYS || payment.amount === 0) return;
    const { buyer, plan, amount, tax } = payment;
    this.happenings.push({ kind: 'disputed', day, buyer, plan, payment, amount, tax });
    account.dispute(payment);
    const wonOn = day + this.between(20, 60);
    if (WITHOUT_OUTCOMES.has(provider) || !this.chance(RATES.won) || wonOn >= YEAR_DAYS) return;
    this.happenings.push({ kind: 'won', day: wonOn, buyer, plan, payment, amount, tax });
    account.win(payment);
  }
}

function partOfTax(payment: Paid, amount: number): number {
  return Math.round((payment.tax * amount) / payment.amount);
}
