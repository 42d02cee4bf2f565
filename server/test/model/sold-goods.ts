/** What happens to what was sold: payments, changes, and money that goes back, as the providers report them. */
import {
  addCycle,
  type AnyHappening,
  type Buyer,
  type Paid,
} from '../../../soak/year/happenings.ts';
import { isTooSmall } from './model-shop.ts';
import type { Purchase } from './model-purchase.ts';
import {
  WITH_PERIODS,
  WITHOUT_DISPUTES,
  WITHOUT_OUTCOMES,
  type Report,
  type Sold,
  type Step,
  type Turn,
} from './story-steps.ts';

export const HOUR = 1 / 24;

export class SoldGoods {
  readonly turns: Turn[] = [];
  readonly sold: Sold[] = [];
  protected readonly hasUpgrades: boolean;
  /** Whether a purchase makes a license larger is examined when it arrives, so the reports about a license have their order. */
  readonly #reportsOf = new Map<Purchase, readonly Report[]>();
  #reports: Report[] = [];

  /** @param hasUpgrades whether licenses become other products; otherwise updates are sold */
  constructor(hasUpgrades: boolean) {
    this.hasUpgrades = hasUpgrades;
  }

  get purchases(): readonly Purchase[] {
    return this.sold.map(({ purchase }) => purchase);
  }

  /** Delivers what is left. */
  end(): void {
    if (this.#reports.length > 0) this.turns.push({ kind: 'deliver', reports: this.#reports });
    this.#reports = [];
  }

  protected report(
    purchase: Purchase,
    happening: AnyHappening,
    after: readonly Report[] = [],
  ): Report {
    if (purchase.isTooSmall) purchase.isTooSmall = isTooSmall(this.purchases, purchase);
    const own = purchase.renews ?? purchase;
    const before = this.hasUpgrades ? (this.#reportsOf.get(own) ?? []) : [];
    const report = { happening, purchase, after: [...after, ...before] };
    this.#reportsOf.set(own, [...before, report]);
    this.#reports.push(report);
    return report;
  }

  protected select(pick: number, fits: (sold: Sold) => boolean): Sold | null {
    const fitting = this.sold.filter(fits);
    return fitting[pick % Math.max(1, fitting.length)] ?? null;
  }

  /** Lists the reports of updates that name no license. */
  protected listLoose(): Report[] {
    return this.sold
      .filter(({ purchase }) => purchase.good.isUpdates && purchase.renews === null)
      .flatMap(({ first }) => first);
  }

  protected state(sold: Sold, status: 'active' | 'canceled', day: number, isFirst = false): Report {
    const { purchase, buyer, custom, from, until, after } = sold;
    const { good: plan, subscription } = purchase;
    const quantity = subscription?.quantity ?? 1;
    sold.last = day;
    if (status === 'active') subscription?.report(until, day);
    const state = {
      kind: 'state',
      day,
      buyer,
      plan,
      quantity,
      custom,
      status,
      isFirst,
      from,
      until,
    } as const;
    return this.report(purchase, state, after);
  }

  protected renewSubscription({ pick, isLost }: Step): void {
    const sold = this.select(pick, isRunning);
    if (sold === null || sold.last >= sold.until) return;
    const { purchase, buyer, payments, after, custom } = sold;
    const from = sold.until;
    Object.assign(sold, { from, until: addCycle(from, 'month') });
    const { until } = sold;
    const isReported = !isLost || !WITH_PERIODS.includes(purchase.seller);
    if (isReported) this.state(sold, 'active', from);
    const number = payments.length + 1;
    const paid = toPaid(purchase, buyer, {
      number,
      day: from + HOUR,
      origin: 'renewal',
      from,
      until,
    });
    payments.push(paid);
    purchase.subscription?.pay(from + HOUR, from, until);
    sold.last = from + HOUR;
    this.report(purchase, { ...paid, custom }, after);
  }

  protected changeQuantity({ pick, quantity, days }: Step): void {
    const sold = this.select(pick, isRunning);
    const day = (sold?.last ?? 0) + days;
    if (sold === null || day >= sold.until || sold.purchase.subscription === null) return;
    sold.purchase.subscription.quantity = quantity;
    this.state(sold, 'active', day);
  }

  protected cancel({ pick, days }: Step): void {
    const sold = this.select(pick, isRunning);
    if (sold === null) return;
    const day = Math.floor(sold.last) + days;
    sold.purchase.subscription?.cancel(day);
    this.state(sold, 'canceled', day);
  }

  protected refund({ pick, days, quantity }: Step): void {
    const sold = this.select(pick, ({ purchase }) => !purchase.isReturned && !purchase.isDisputed);
    if (sold === null) return;
    const { purchase, payments } = sold;
    const place = quantity % payments.length;
    const payment = payments[place];
    const day = Math.floor(sold.last) + days;
    if (payment === undefined || purchase.subscription?.isRefunded(place) === true) return;
    if (purchase.subscription === null) purchase.isReturned = true;
    else purchase.subscription.refund(place, day);
    this.#giveBack(sold, 'refunded', payment, day, payment.amount);
  }

  protected refundPart({ pick, days }: Step): void {
    const sold = this.select(
      pick,
      ({ returned, payments }) => returned.length === 0 && payments.length === 1,
    );
    const payment = sold?.payments[0];
    if (sold === null || payment === undefined) return;
    this.#giveBack(sold, 'refunded', payment, Math.floor(sold.last) + days, 100);
  }

  protected dispute({ pick, days }: Step): void {
    const sold = this.select(pick, canDispute);
    const payment = sold?.payments[0];
    if (sold === null || payment === undefined) return;
    sold.purchase.isDisputed = true;
    this.#giveBack(sold, 'disputed', payment, Math.floor(sold.last) + days, payment.amount);
  }

  protected win({ pick, days }: Step): void {
    const sold = this.select(
      pick,
      ({ purchase: { seller, isDisputed } }) => isDisputed && !WITHOUT_OUTCOMES.includes(seller),
    );
    const payment = sold?.payments[0];
    if (sold === null || payment === undefined) return;
    sold.purchase.isDisputed = false;
    this.#giveBack(sold, 'won', payment, Math.floor(sold.last) + days, payment.amount);
  }

  #giveBack(
    sold: Sold,
    kind: 'refunded' | 'disputed' | 'won',
    payment: Paid,
    day: number,
    amount: number,
  ): void {
    const { purchase, buyer, after } = sold;
    sold.last = day;
    const happening = { kind, day, buyer, plan: purchase.good, payment, amount, tax: 0 };
    const loose = purchase.good.products.includes('versions') ? this.listLoose() : [];
    const report = this.report(purchase, happening, [...after, ...loose]);
    sold.returned.push(report);
  }
}

export function toPaid(
  { good: plan, subscription, quantity }: Purchase,
  buyer: Buyer,
  more: Pick<Paid, 'number' | 'day' | 'origin' | 'from' | 'until'>,
): Paid {
  const units = subscription?.quantity ?? quantity;
  return { kind: 'paid', buyer, plan, quantity: units, amount: plan.amount, tax: 0, ...more };
}

function isRunning({ purchase: { subscription } }: Sold): boolean {
  return subscription !== null && !subscription.isCanceled;
}

function canDispute({ purchase: { seller, isReturned }, returned }: Sold): boolean {
  const isOpen = returned.every(({ happening: { kind } }) => kind !== 'disputed');
  return !isReturned && isOpen && !WITHOUT_DISPUTES.includes(seller);
}
