import { Account } from './books.ts';
import {
  addCycle,
  PLANS,
  type Paid,
  type Plan,
  type ProviderName,
  type State,
} from './happenings.ts';
import { HOUR, Person, YEAR_DAYS, type Life } from './person.ts';
import { RATES } from './rates.ts';

const TRIAL_DAYS = 14;

/** Their payments report a state of the subscription, which is not paid any more after its end. */
const WITHOUT_LATE_PAYMENTS: ReadonlySet<ProviderName> = new Set([
  'creem',
  'fastspring',
  'gumroad',
]);

/** Their payments report no period. */
const WITHOUT_PERIODS: ReadonlySet<ProviderName> = new Set(['lemonsqueezy', 'polar', 'dodo']);

/** A buyer of a subscription, who renews, changes, pauses and ends it. */
export class Subscriber extends Person {
  #isFirst = true;
  /** Lemon Squeezy reports periods, from the first of which the cycle is inferred, unless it is a trial. */
  #firstCycle: Plan['cycle'] = null;

  live(first: Plan): Life {
    const account = new Account(this.buyer, first);
    const isFromBefore = this.chance(RATES.fromBefore);
    const start = isFromBefore ? -this.between(1, 28) : this.between(0, YEAR_DAYS - 20);
    // Paddle reports addresses in events of customers only.
    account.isBuyerKnown = !isFromBefore || this.buyer.provider !== 'paddle';
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
      amount: this.priceOf(plan),
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
    const plan = this.#drawChange(before);
    const amount = Math.max(0, this.priceOf(plan) - this.priceOf(before));
    // At Gumroad only what costs more begins at once, and with a new period.
    if (amount === 0 && this.#isAtGumroad) return null;
    const isSamePeriod = plan.cycle === before.cycle && !this.#isAtGumroad;
    const end = isSamePeriod ? until : addCycle(day, plan.cycle ?? 'month');
    account.plan = plan;
    const credit = { plan: before, until };
    this.pay(account, { day, origin: 'change', amount, from: day, until: end, credit });
    this.#report(account, 'active', day + HOUR / 60, isSamePeriod ? from : day, end);
    return [isSamePeriod ? from : day, end];
  }

  #drawChange(before: Plan): Plan {
    if (before !== PLANS.month) return PLANS.month;
    return this.chance(0.5) ? PLANS.team : PLANS.year;
  }

  /** Returns the next paid period; null if there is none. */
  #renewOrStop(account: Account, day: number): readonly [number, number] | null {
    const until = addCycle(day, account.plan.cycle ?? 'month');
    if (this.chance(RATES.canceled)) {
      this.#end(account, day, day, until);
      return null;
    }
    if (this.chance(RATES.paused) && !this.#isAtGumroad) return this.#pause(account, day);
    if (!this.chance(RATES.declined)) {
      this.#renew(account, day, until);
      return [day, until];
    }
    this.#report(account, 'past_due', day + HOUR, day, until);
    const later = day + this.between(1, 13);
    if (this.chance(RATES.recovered)) {
      if (later >= YEAR_DAYS) return null;
      return this.#payLate(account, later, day, until);
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
    const amount = this.priceOf(account.plan);
    const cycle = provider === 'lemonsqueezy' ? this.#firstCycle : account.plan.cycle;
    const own = { from: day, until: cycle === null ? day : addCycle(day, cycle) };
    const period = WITHOUT_PERIODS.has(provider) ? own : { from, until };
    account.unearned.add(this.pay(account, { day, origin: 'renewal', amount, ...period }));
  }

  #renew(account: Account, day: number, until: number): void {
    this.#report(account, 'active', day, day, until);
    const amount = this.priceOf(account.plan);
    const paid = this.pay(account, {
      // A charge of Gumroad pays from its time on.
      day: this.#isAtGumroad ? day : day + HOUR,
      origin: 'renewal',
      amount,
      from: day,
      until,
    });
    this.dispute(account, paid);
  }

  /** Returns the paid period, which does not begin earlier than its payment at Gumroad. */
  #payLate(account: Account, day: number, due: number, end: number): readonly [number, number] {
    const amount = this.priceOf(account.plan);
    const from = this.#isAtGumroad ? day : due;
    const until = this.#isAtGumroad ? addCycle(day, account.plan.cycle ?? 'month') : end;
    this.pay(account, { day, origin: 'renewal', amount, from, until });
    this.#report(account, 'active', day + HOUR / 60, from, until);
    return [from, until];
  }

  get #isAtGumroad(): boolean {
    return this.buyer.provider === 'gumroad';
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
      custom: this.gift,
      plan,
      status,
      isFirst,
      from,
      until,
    });
  }
}
