/**
 * A model of the time that a subscription is paid for: it follows one after another what a buyer, a seller and a provider do,
 * and notes for each payment the days that it pays. Slow and obvious, to be compared with the rules, which get the same
 * history as facts in any order.
 */
import type { BillingFact, BillingLine, BillingPeriod, PaymentFact } from '../facts.ts';
import { adjustment, monthly, payment, snapshot, month, PRICES } from './facts.fixture.ts';
import {
  machinesAfter,
  type ModelLicense,
  type ModelOptions,
  type Step,
} from './model-steps.fixture.ts';

const DAY_MS = 86_400_000;

/** What the model knows of a payment. */
interface ModelPayment {
  readonly id: string;
  /** The days that it pays: the first one, and the one after the last. */
  readonly from: number;
  readonly until: number;
  readonly price: string;
  refundedOn: number | null;
  /** Whether it is in another currency: it grants nothing, and its refund ends what the provider reports for it. */
  isForeign?: boolean;
  /** Where it ends early, and the payment whose credit says so; null: the provider reports it. */
  readonly cuts: { readonly on: number; readonly by: ModelPayment | null }[];
}

/** Credits of a payment that was paid back do not count. */
function endOf({ until, cuts }: ModelPayment): number {
  const effective = cuts.filter(({ by }) => by === null || by.refundedOn === null);
  return Math.min(until, ...effective.map(({ on }) => on));
}

const at = (day: number): Date => new Date(month(3).getTime() + day * DAY_MS);
const span = (from: number, until: number): BillingPeriod => ({
  startsAt: at(from),
  endsAt: at(until),
});

/** A subscription whose history grows by steps. */
export class SubscriptionModel {
  readonly facts: BillingFact[] = [];
  /** How many facts there were at each edit of the catalogue. */
  readonly edits: number[] = [];
  /** The transactions of payments that need an operator. */
  readonly attention: string[] = [];
  /** Whether a price was sold only in passing between two edits: then it depends on the order what it was sold as. */
  isAmbiguous = false;
  readonly #options: ModelOptions;
  /** The number of edits when a price was sold first. */
  readonly #sold = new Map<string, number>();
  readonly #passing = new Map<string, number>();
  #paused = false;
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
  #wrong = 0;
  #price: string = PRICES.personal;

  constructor(options: ModelOptions) {
    this.#options = options;
    if (options.isImported) {
      this.#payments.push({
        id: '',
        from: 0,
        until: 30,
        price: this.#price,
        refundedOn: null,
        cuts: [],
      });
      this.#periodEnd = 30;
      this.#sold.set(this.#price, 0);
    } else {
      this.#pay('purchase', 0, 30);
    }
    this.#report('active', 0, 30);
  }

  take({ kind, days }: Step): void {
    const isOver = ['refund', 'dispute', 'win', 'payAfterEnd', 'editCatalog'].includes(kind);
    if (this.#canceled && !isOver) return;
    if (this.#paused && !isOver && kind !== 'resume' && kind !== 'cancel') return;
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
      pause: () => this.#pause(),
      resume: () => this.#resume(),
      renewUnseen: () => this.#renew(true, false),
      payAfterEnd: () => this.#payAfterEnd(),
      payNegative: () => this.#payWrongly({ total: -1_000 }),
      renewInYen: () => this.#renewInYen(),
      payByStranger: () => this.#payWrongly({ customerId: 'ctm_stranger' }),
      editCatalog: () => this.#editCatalog(),
    };
    actions[kind]();
  }

  license(): ModelLicense {
    const kept = this.#payments.filter(
      ({ refundedOn, isForeign }) => refundedOn === null && isForeign !== true,
    );
    const refunded = this.#payments.filter(({ refundedOn }) => refundedOn !== null);
    const paid = Math.max(-1, ...kept.map(endOf));
    const reported = this.#reported;
    const isTaken =
      reported !== null &&
      paid < reported - 1 &&
      refunded.some((each) => Math.abs(endOf(each) - reported) <= 1);
    const usable = reported === null || isTaken ? paid : this.#endFrom(reported, kept);
    const productId = this.#price === PRICES.sellers ? 'sellers' : 'personal';
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
      isPaused: this.#paused,
      productId,
      machines: machinesAfter(this.#sold.get(this.#price) ?? this.edits.length, productId),
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

  #lines(id: string | null = null): { readonly lines: readonly BillingLine[] } {
    const own = id === null ? this.#price : `item_${id}`;
    return {
      lines: [monthly(this.#price, { lineId: this.#options.hasStableLines ? 'si_1' : own })],
    };
  }

  #pay(
    origin: PaymentFact['origin'],
    from: number,
    until: number,
    more: Partial<PaymentFact> = {},
  ): ModelPayment {
    const id = `txn_${this.#payments.length + this.#wrong}`;
    const own = { id, from, until, price: this.#price, refundedOn: null, cuts: [] };
    this.#payments.push(own);
    this.facts.push(
      payment({
        transactionId: id,
        subscriptionId: 'sub_1',
        origin,
        occurredAt: this.#now(),
        period: span(from, until),
        currency: 'USD',
        ...this.#lines(id),
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
    this.#paused = false;
    this.#reported = null;
    this.facts.push(snapshot(this.#now(), 'canceled', null, this.#lines()));
  }

  #renew(isPaid: boolean, isReported = true): void {
    if (this.#unpaid !== null) return;
    const from = this.#periodEnd;
    this.#today = Math.max(this.#today, from);
    if (isReported) this.#report('active', from, from + 30);
    this.#periodEnd = from + 30;
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

  /** The provider reports the period; the payment itself needs an operator until it is paid back. */
  #renewInYen(): void {
    if (this.#unpaid !== null || this.#payments.every(({ id }) => id === '')) return;
    const from = this.#periodEnd;
    this.#today = Math.max(this.#today, from);
    this.#report('active', from, from + 30);
    const paid = this.#pay('renewal', from, from + 30, { currency: 'JPY' });
    paid.isForeign = true;
    this.attention.push(paid.id);
  }

  /** A change is charged at once; the rest of the period is credited. */
  #change(price: string, length: number): void {
    if (this.#unpaid !== null || this.#today >= this.#periodEnd || price === this.#price) return;
    const before = this.#price;
    const { hasStableLines } = this.#options;
    if (this.#sold.get(before) === undefined) this.#passing.set(before, this.edits.length);
    const credit = {
      lineId: 'si_1',
      priceId: before,
      isCredit: true,
      period: span(this.#today, this.#periodEnd),
    };
    const replaced = this.#payments.filter((each) => each.price === before);
    this.#price = price;
    const more = hasStableLines ? { prorations: [credit] } : {};
    const by = this.#pay('change', this.#today, this.#today + length, more);
    for (const each of hasStableLines ? replaced : []) {
      if (each.from < this.#today && this.#today < each.until) {
        each.cuts.push({ on: this.#today, by });
      }
    }
    this.#report('active', this.#today, this.#today + length);
  }

  #pause(): void {
    if (this.#unpaid !== null) return;
    this.#paused = true;
    this.#reported = null;
    this.facts.push(snapshot(this.#now(), 'paused', null, this.#lines()));
  }

  /** A paused subscription begins a new period, which is paid at once. */
  #resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#report('active', this.#today, this.#today + 30);
    this.#pay('renewal', this.#today, this.#today + 30);
  }

  /** It pays its period, but the license stays canceled. */
  #payAfterEnd(): void {
    if (!this.#canceled) return;
    const { id } = this.#pay('renewal', this.#periodEnd, this.#periodEnd + 30);
    this.#periodEnd += 30;
    this.attention.push(id);
  }

  /** A payment that cannot be right changes nothing. */
  #payWrongly(wrong: Partial<PaymentFact>): void {
    if (this.#options.isImported && this.#payments.length === 1) return;
    const { id } = this.#pay('renewal', this.#today, this.#today + 300, wrong);
    this.#payments.splice(-1);
    this.#wrong += 1;
    this.attention.push(id);
  }

  #editCatalog(): void {
    for (const [price, edits] of this.#passing) {
      if (!this.#sold.has(price) && price !== this.#price) this.isAmbiguous ||= edits >= 0;
    }
    this.#passing.clear();
    if (!this.#sold.has(this.#price)) this.#sold.set(this.#price, this.edits.length);
    this.edits.push(this.facts.length);
  }

  #refund(number: number): void {
    const paid = this.#payments[number % this.#payments.length];
    if (paid === undefined || paid.refundedOn !== null || paid.id === '') return;
    // A refunded late payment needs nobody.
    if (this.attention.includes(paid.id)) this.attention.splice(this.attention.indexOf(paid.id), 1);
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
    if (this.#options.isImported) return;
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
