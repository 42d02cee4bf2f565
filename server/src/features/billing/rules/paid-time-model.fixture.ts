/**
 * A model of the time that a subscription is paid for: it follows one after another what a buyer, a seller and a provider do,
 * and notes for each payment the days that it pays. Slow and obvious, to be compared with the rules, which get the same
 * history as facts in any order.
 */
import type { BillingFact, BillingLine, BillingPeriod, PaymentFact } from '../facts.ts';
import { adjustment, monthly, payment, snapshot, month, PRICES } from './facts.fixture.ts';

const DAY_MS = 86_400_000;

/** What happens after some days. The numbers of the other kinds have no meaning. */
export interface Step {
  readonly kind:
    | 'renew'
    | 'fail'
    | 'payLate'
    | 'upgrade'
    | 'downgrade'
    | 'move'
    | 'refund'
    | 'cancel'
    | 'dispute'
    | 'win';
  readonly days: number;
}

/** What the model knows of a payment. */
interface ModelPayment {
  readonly id: string;
  /** The days that it pays: the first one, and the one after the last. */
  readonly from: number;
  readonly until: number;
  readonly price: string;
  refundedOn: number | null;
  /** Where it ends early, and the payment whose credit says so; null: the provider reports it. */
  readonly cuts: { readonly on: number; readonly by: ModelPayment | null }[];
}

/** Credits of a payment that was paid back do not count. */
function endOf({ until, cuts }: ModelPayment): number {
  const effective = cuts.filter(({ by }) => by === null || by.refundedOn === null);
  return Math.min(until, ...effective.map(({ on }) => on));
}

/** The license as the model expects it; days since the start. */
export interface ModelLicense {
  readonly endsOn: number;
  readonly isRefunded: boolean;
  readonly isCanceled: boolean;
  readonly isDisputed: boolean;
  readonly productId: string;
}

const at = (day: number): Date => new Date(month(3).getTime() + day * DAY_MS);
const span = (from: number, until: number): BillingPeriod => ({
  startsAt: at(from),
  endsAt: at(until),
});

/** A subscription whose history grows by steps. */
export class SubscriptionModel {
  readonly facts: BillingFact[] = [];
  readonly #payments: ModelPayment[] = [];
  #today = 0;
  /** The end that the provider reports; null: the subscription is past due or canceled. */
  #reported: number | null = null;
  #periodEnd = 0;
  #unpaid: readonly [number, number] | null = null;
  #canceled = false;
  #disputes = 0;
  #wins = 0;
  #lastReported = 0;
  #price: string = PRICES.personal;

  constructor() {
    this.#pay('purchase', 0, 30);
    this.#report('active', 0, 30);
  }

  take({ kind, days }: Step): void {
    if (this.#canceled && !['refund', 'dispute', 'win'].includes(kind)) return;
    this.#today += days;
    const actions: Readonly<Record<Step['kind'], () => void>> = {
      renew: () => this.#renew(true),
      fail: () => this.#renew(false),
      payLate: () => this.#payLate(),
      upgrade: () => this.#change(PRICES.sellers, 365),
      downgrade: () => this.#change(PRICES.personal, 30),
      move: () => this.#move(days),
      refund: () => this.#refund(days),
      cancel: () => this.#cancel(),
      dispute: () => this.#dispute(),
      win: () => this.#win(),
    };
    actions[kind]();
  }

  license(): ModelLicense {
    const kept = this.#payments.filter(({ refundedOn }) => refundedOn === null);
    const refunded = this.#payments.filter(({ refundedOn }) => refundedOn !== null);
    const paid = Math.max(-1, ...kept.map(endOf));
    const reported = this.#reported;
    const isTaken =
      reported !== null &&
      paid < reported - 1 &&
      refunded.some((each) => Math.abs(endOf(each) - reported) <= 1);
    const usable = reported === null || isTaken ? paid : this.#endFrom(reported, kept);
    const last = refunded.toSorted((a, b) => endOf(a) - endOf(b)).at(-1);
    const isRefunded =
      last?.refundedOn != null &&
      endOf(last) > usable + 1 &&
      (usable === -1 || last.refundedOn >= usable);
    return {
      endsOn: isRefunded ? endOf(last) : usable,
      isRefunded,
      isCanceled: this.#canceled,
      isDisputed: this.#disputes > this.#wins,
      productId: this.#price === PRICES.sellers ? 'sellers' : 'personal',
    };
  }

  /** A period that was paid in advance follows the reported one. */
  #endFrom(reported: number, kept: readonly ModelPayment[]): number {
    return Math.max(reported, ...kept.filter(({ from }) => from >= reported - 1).map(endOf));
  }

  /** Each event has its own minute. */
  #now(): Date {
    return new Date(at(this.#today).getTime() + this.facts.length * 60_000);
  }

  #lines(): { readonly lines: readonly BillingLine[] } {
    return { lines: [monthly(this.#price, { lineId: 'si_1' })] };
  }

  #pay(
    origin: PaymentFact['origin'],
    from: number,
    until: number,
    more: Partial<PaymentFact> = {},
  ): ModelPayment {
    const id = `txn_${this.#payments.length}`;
    const own = { id, from, until, price: this.#price, refundedOn: null, cuts: [] };
    this.#payments.push(own);
    this.facts.push(
      payment({
        transactionId: id,
        subscriptionId: 'sub_1',
        origin,
        occurredAt: this.#now(),
        period: span(from, until),
        ...this.#lines(),
        ...more,
      }),
    );
    return own;
  }

  #report(status: 'active' | 'past_due', from: number, until: number): void {
    this.#periodEnd = until;
    this.#lastReported = from;
    this.#reported = status === 'active' ? until : null;
    // What was paid for longer ends where an active subscription ends.
    if (status === 'active') this.#cut(until);
    this.facts.push(
      snapshot(this.#now(), status, null, { ...this.#lines(), period: span(from, until) }),
    );
  }

  #cut(on: number): void {
    for (const each of this.#payments) {
      if (each.from < on - 1 && each.until > on + 1) each.cuts.push({ on, by: null });
    }
  }

  #move(days: number): void {
    if (this.#unpaid !== null || this.#today >= this.#periodEnd) return;
    this.#report('active', this.#lastReported, this.#today + 5 + days);
  }

  #cancel(): void {
    this.#canceled = true;
    this.#reported = null;
    this.facts.push(snapshot(this.#now(), 'canceled', null, this.#lines()));
  }

  #renew(isPaid: boolean): void {
    if (this.#unpaid !== null) return;
    const from = this.#periodEnd;
    this.#today = Math.max(this.#today, from);
    this.#report('active', from, from + 30);
    if (isPaid) {
      this.#pay('renewal', from, from + 30);
    } else {
      this.#unpaid = [from, from + 30];
      this.#report('past_due', from, from + 30);
    }
  }

  #payLate(): void {
    if (this.#unpaid === null) return;
    const [from, until] = this.#unpaid;
    this.#unpaid = null;
    this.#report('active', from, until);
    this.#pay('renewal', from, until);
  }

  /** A change is charged at once; the rest of the period is credited. */
  #change(price: string, length: number): void {
    if (this.#unpaid !== null || this.#today >= this.#periodEnd || price === this.#price) return;
    const before = this.#price;
    const credit = {
      lineId: 'si_1',
      priceId: before,
      isCredit: true,
      period: span(this.#today, this.#periodEnd),
    };
    const replaced = this.#payments.filter((each) => each.price === before);
    this.#price = price;
    const by = this.#pay('change', this.#today, this.#today + length, { prorations: [credit] });
    for (const each of replaced) {
      if (each.from < this.#today && this.#today < each.until) {
        each.cuts.push({ on: this.#today, by });
      }
    }
    this.#report('active', this.#today, this.#today + length);
  }

  #refund(number: number): void {
    const paid = this.#payments[number % this.#payments.length];
    if (paid === undefined || paid.refundedOn !== null) return;
    paid.refundedOn = this.#today;
    this.facts.push(
      adjustment({
        adjustmentId: `refund_${paid.id}`,
        transactionId: paid.id,
        occurredAt: at(this.#today),
      }),
    );
  }

  #dispute(): void {
    this.#disputes += 1;
    this.#reportDispute('chargeback', this.#disputes);
  }

  #win(): void {
    if (this.#wins >= this.#disputes) return;
    this.#wins += 1;
    this.#reportDispute('chargeback_reverse', this.#wins);
  }

  #reportDispute(effect: 'chargeback' | 'chargeback_reverse', number: number): void {
    this.facts.push(
      adjustment({
        adjustmentId: `${effect}_${number}`,
        transactionId: 'txn_0',
        occurredAt: this.#now(),
        effect,
      }),
    );
  }
}
