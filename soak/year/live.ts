/** Lives of buyers: what each does during the year, by the published rates. */
import { Account } from './books.ts';
import {
  addCycle,
  PLANS,
  PROVIDERS,
  type AnyHappening,
  type Buyer,
  type Paid,
  type Plan,
  type ProviderName,
  type State,
} from './happenings.ts';
import { RATES } from './rates.ts';

/** Nothing begins in the last hours of the year, so that it also ends in the year. */
const YEAR_DAYS = 364;
const HOUR = 1 / 24;
const TRIAL_DAYS = 14;

/** Providers whose webhooks report no disputes, and one that does not report how they end. */
const WITHOUT_DISPUTES: ReadonlySet<ProviderName> = new Set([
  'lemonsqueezy',
  'polar',
  'fastspring',
]);
const WITHOUT_OUTCOMES: ReadonlySet<ProviderName> = new Set(['creem']);

/** Their payments report a state of the subscription, which is not paid any more after its end. */
const WITHOUT_LATE_PAYMENTS: ReadonlySet<ProviderName> = new Set(['creem', 'fastspring']);

/** Their payments report no period. */
const WITHOUT_PERIODS: ReadonlySet<ProviderName> = new Set(['lemonsqueezy', 'polar', 'dodo']);

/** A buyer's events, with those that other systems received left out, and the books about them. */
export interface Life {
  readonly account: Account;
  readonly happenings: readonly AnyHappening[];
}

/** Draws the life of a buyer. @param random numbers from 0 to 1 */
export function live(number: number, random: () => number): Life {
  const provider = PROVIDERS[Math.floor(random() * PROVIDERS.length)] ?? 'paddle';
  const buyer = { number, provider, email: `buyer.${number}@example.com` };
  const kind = random();
  if (kind < 0.25) {
    return new OneTime(buyer, random).live(
      random() < RATES.unknownPrice ? PLANS.unknown : PLANS.once,
    );
  }
  return new Subscriber(buyer, random).live(kind < 0.8 ? PLANS.month : PLANS.year);
}

/** What the lives of buyers have in common. */
class Person {
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

  protected pay(
    account: Account,
    paid: Pick<Paid, 'day' | 'origin' | 'amount' | 'from' | 'until' | 'credit'>,
  ): Paid {
    this.#payments += 1;
    const { buyer } = this;
    const payment: Paid = {
      kind: 'paid',
      number: this.#payments,
      buyer,
      plan: account.plan,
      ...paid,
    };
    this.happenings.push(payment);
    // What was paid before is in the books of another system.
    if (payment.day >= 0) account.pay(payment);
    return payment;
  }

  /** Whether the buyer got all of it back, within two weeks. */
  protected giveBack(account: Account, payment: Paid, before: number): number | null {
    if (!this.chance(RATES.refunded) || payment.amount === 0) return null;
    const day = payment.day + this.between(0.1, 14);
    if (day >= before) return null;
    const { buyer, plan } = payment;
    const isPartial = this.chance(RATES.refundedInPart);
    const amount = isPartial ? Math.floor(payment.amount / 2) : payment.amount;
    this.happenings.push({ kind: 'refunded', day, buyer, plan, payment, amount });
    if (isPartial) return null;
    account.refund(payment, day);
    return day;
  }

  protected dispute(account: Account, payment: Paid): void {
    const { provider } = this.buyer;
    if (WITHOUT_DISPUTES.has(provider) || !this.chance(RATES.chargedBack)) return;
    const day = payment.day + this.between(10, 40);
    if (day >= YEAR_DAYS || payment.amount === 0) return;
    const { buyer, plan, amount } = payment;
    this.happenings.push({ kind: 'disputed', day, buyer, plan, payment, amount });
    account.dispute(payment);
    const wonOn = day + this.between(20, 60);
    if (WITHOUT_OUTCOMES.has(provider) || !this.chance(RATES.won) || wonOn >= YEAR_DAYS) return;
    this.happenings.push({ kind: 'won', day: wonOn, buyer, plan, payment, amount });
    account.win(payment);
  }
}

class OneTime extends Person {
  live(plan: Plan): Life {
    const account = new Account(this.buyer, plan);
    const day = this.between(0, YEAR_DAYS - 15);
    const { amount } = plan;
    const payment = this.pay(account, { day, origin: 'purchase', amount, from: day, until: null });
    if (plan.product === null) account.unearned.add(payment);
    else if (this.giveBack(account, payment, YEAR_DAYS) === null) this.dispute(account, payment);
    return { account, happenings: this.happenings };
  }
}

class Subscriber extends Person {
  #isFirst = true;
  /** Lemon Squeezy reports periods, from the first of which the cycle is inferred, unless it is a trial. */
  #firstCycle: Plan['cycle'] = null;

  live(first: Plan): Life {
    const account = new Account(this.buyer, first);
    const isFromBefore = this.chance(RATES.fromBefore);
    const start = isFromBefore ? -this.between(1, 28) : this.between(0, YEAR_DAYS - 20);
    const [from, until] = this.#begin(account, start);
    if (until !== null) this.#continue(account, from, until);
    return {
      account,
      happenings: this.happenings.filter(({ day }) => day >= 0),
    };
  }

  /** Returns the paid period, whose end is null if the subscription ended with its trial. */
  #begin(account: Account, start: number): readonly [number, number | null] {
    const { plan } = account;
    if (this.chance(RATES.trial) && start >= 0) return this.#tryOut(account, start);
    const until = addCycle(start, plan.cycle ?? 'month');
    const paid = this.pay(account, {
      day: start,
      origin: 'purchase',
      amount: plan.amount,
      from: start,
      until,
    });
    this.#report(account, 'active', start + HOUR / 60, start, until);
    if (start >= 0) this.dispute(account, paid);
    return [start, until];
  }

  #tryOut(account: Account, start: number): readonly [number, number | null] {
    const end = start + TRIAL_DAYS;
    account.trialUntil = end;
    this.pay(account, { day: start, origin: 'purchase', amount: 0, from: start, until: end });
    this.#report(account, 'trialing', start + HOUR / 60, start, end);
    const until = addCycle(end, account.plan.cycle ?? 'month');
    if (end >= YEAR_DAYS) return [end, null];
    if (this.chance(RATES.trialUnpaid)) {
      this.#report(account, 'past_due', end, end, until);
      this.#end(account, end + this.between(5, 15), end, until);
      return [end, null];
    }
    this.#renew(account, end, until);
    return [end, until];
  }

  #continue(account: Account, begin: number, end: number): void {
    let [from, until] = [begin, end];
    let payment = account.payments.at(-1) ?? null;
    while (until < YEAR_DAYS) {
      const changed = this.#change(account, payment, from, until);
      if (changed !== null) [from, until] = changed;
      if (changed !== null) payment = account.payments.at(-1) ?? null;
      if (until >= YEAR_DAYS) return;
      const returnedOn =
        payment === null || changed !== null ? null : this.giveBack(account, payment, until);
      if (returnedOn !== null && this.chance(0.7)) {
        this.#end(account, returnedOn + HOUR, from, until);
        return;
      }
      const next = this.#renewOrStop(account, until);
      if (next === null) return;
      [from, until] = next;
      payment = account.payments.at(-1) ?? null;
    }
  }

  /** Moves to another plan in the middle of a period. */
  #change(
    account: Account,
    payment: Paid | null,
    from: number,
    until: number,
  ): readonly [number, number] | null {
    if (!this.chance(RATES.changed) || payment === null || payment.amount === 0) return null;
    const day = from + this.between(2, 20);
    // A renewal that is still unpaid is paid first.
    if (day <= payment.day || day >= until - 2 || day >= YEAR_DAYS - 1) return null;
    const before = account.plan;
    const plan =
      before === PLANS.month ? (this.chance(0.5) ? PLANS.team : PLANS.year) : PLANS.month;
    const end = plan.cycle === before.cycle ? until : addCycle(day, plan.cycle ?? 'month');
    account.plan = plan;
    const amount = Math.max(0, plan.amount - before.amount);
    const credit = { plan: before, until };
    const isSamePeriod = plan.cycle === before.cycle;
    this.pay(account, { day, origin: 'change', amount, from: day, until: end, credit });
    this.#report(account, 'active', day + HOUR / 60, isSamePeriod ? from : day, end);
    return [isSamePeriod ? from : day, end];
  }

  /** Returns the next paid period; null if there is none. */
  #renewOrStop(account: Account, day: number): readonly [number, number] | null {
    const until = addCycle(day, account.plan.cycle ?? 'month');
    if (this.chance(RATES.canceled)) {
      this.#end(account, day, day, until);
      return null;
    }
    if (this.chance(RATES.paused)) return this.#pause(account, day);
    if (!this.chance(RATES.declined)) {
      this.#renew(account, day, until);
      return [day, until];
    }
    this.#report(account, 'past_due', day + HOUR, day, until);
    const later = day + this.between(1, 13);
    if (this.chance(RATES.recovered)) {
      if (later >= YEAR_DAYS) return null;
      this.#payLate(account, later, day, until);
      return [day, until];
    }
    const endedOn = day + this.between(14, 21);
    this.#end(account, endedOn, day, until);
    if (endedOn + 3 < YEAR_DAYS && this.chance(RATES.paidAfterEnd)) {
      this.#payAfterEnd(account, endedOn + 2, day, until);
    }
    return null;
  }

  /** Without a period, a payment pays a cycle from its day on, if its cycle was ever reported. */
  #payAfterEnd(account: Account, day: number, from: number, until: number): void {
    const { provider } = this.buyer;
    if (WITHOUT_LATE_PAYMENTS.has(provider)) return;
    const { amount } = account.plan;
    const cycle = provider === 'lemonsqueezy' ? this.#firstCycle : account.plan.cycle;
    const own = { from: day, until: cycle === null ? day : addCycle(day, cycle) };
    const period = WITHOUT_PERIODS.has(provider) ? own : { from, until };
    account.unearned.add(this.pay(account, { day, origin: 'renewal', amount, ...period }));
  }

  #renew(account: Account, day: number, until: number): void {
    this.#report(account, 'active', day, day, until);
    const { amount } = account.plan;
    const paid = this.pay(account, {
      day: day + HOUR,
      origin: 'renewal',
      amount,
      from: day,
      until,
    });
    this.dispute(account, paid);
  }

  #payLate(account: Account, day: number, from: number, until: number): void {
    const { amount } = account.plan;
    this.pay(account, { day, origin: 'renewal', amount, from, until });
    this.#report(account, 'active', day + HOUR / 60, from, until);
  }

  #pause(account: Account, day: number): readonly [number, number] | null {
    this.#report(account, 'paused', day, day, day);
    account.isPaused = true;
    const back = day + this.between(20, 80);
    if (back >= YEAR_DAYS || !this.chance(RATES.resumed)) return null;
    account.isPaused = false;
    const until = addCycle(back, account.plan.cycle ?? 'month');
    this.#renew(account, back, until);
    return [back, until];
  }

  #end(account: Account, day: number, from: number, until: number): void {
    if (day >= YEAR_DAYS) return;
    account.isCanceled = true;
    this.#report(account, 'canceled', day, from, until);
  }

  #report(
    { plan }: Account,
    status: State['status'],
    day: number,
    from: number,
    until: number,
  ): void {
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    if (isFirst && day >= 0 && status === 'active') this.#firstCycle = plan.cycle;
    this.happenings.push({
      kind: 'state',
      day,
      buyer: this.buyer,
      plan,
      status,
      isFirst,
      from,
      until,
    });
  }
}
