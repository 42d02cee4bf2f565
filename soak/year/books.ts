/**
 * The books of the shop: for each purchase the payments with the days that they pay. They know nothing of the service, and are
 * kept as a shopkeeper would: a list of days, from which a refund strikes those that it pays back.
 */
import { PLANS, type Buyer, type Paid, type Plan } from './happenings.ts';

/** Of each license. */
export const MACHINES = 2;

interface Entry {
  readonly payment: Paid;
  /** The end of what it pays; a change moves it. Null: forever. */
  until: number | null;
  isReturned: boolean;
}

/** What a buyer must have. */
export interface Expected {
  readonly product: string | null;
  /** Null: forever. */
  readonly until: number | null;
  readonly isRefunded: boolean;
  readonly isCanceled: boolean;
  readonly isPaused: boolean;
  readonly isDisputed: boolean;
  /** The number of licenses, which are all alike. */
  readonly keys: number;
  readonly machines: number;
  /** Null: no event of the year contains it. */
  readonly email: string | null;
  /** Null: the license gets all updates. */
  readonly updatesUntil: number | null;
}

/** The books about a buyer. */
export interface Books {
  readonly buyer: Buyer;
  readonly plan: Plan;
  /** The payments of the year. */
  readonly payments: readonly Paid[];
  /** Payments that nothing could be given for. */
  readonly unearned: ReadonlySet<Paid>;
  pay(payment: Paid): void;
  refund(payment: Paid, day: number): void;
  dispute(payment: Paid): void;
  win(payment: Paid): void;
  /** Returns what the buyer must have; null: nothing. */
  expect(): Expected | null;
}

/** The account of a buyer, who buys one thing. */
export class Account implements Books {
  readonly buyer: Buyer;
  readonly #entries: Entry[] = [];
  readonly #disputed = new Set<Paid>();
  readonly unearned = new Set<Paid>();
  plan: Plan;
  isCanceled = false;
  isPaused = false;
  /** Whether the events of the year contain the buyer's address. */
  isBuyerKnown = true;
  /** The end of a trial. */
  trialUntil: number | null = null;
  #refundedOn: number | null = null;

  constructor(buyer: Buyer, plan: Plan) {
    this.buyer = buyer;
    this.plan = plan;
  }

  get payments(): readonly Paid[] {
    return this.#entries.map(({ payment }) => payment);
  }

  pay(payment: Paid): void {
    for (const entry of this.#entries) {
      const isReplaced = payment.credit !== undefined && entry.until === payment.credit.until;
      if (isReplaced && !entry.isReturned) entry.until = payment.from;
    }
    this.#entries.push({ payment, until: payment.until, isReturned: false });
  }

  refund(payment: Paid, day: number): void {
    for (const entry of this.#entries) {
      if (entry.payment !== payment) continue;
      entry.isReturned = true;
      this.#refundedOn = day;
    }
  }

  dispute(payment: Paid): void {
    this.#disputed.add(payment);
  }

  win(payment: Paid): void {
    this.#disputed.delete(payment);
  }

  expect(): Expected | null {
    if (this.plan.product === null || this.#entries.length === 0) return null;
    // An empty period pays nothing.
    const kept = this.#entries.filter(
      ({ isReturned, payment }) => !isReturned && payment.until !== payment.from,
    );
    const returned = this.#entries.filter(({ isReturned }) => isReturned);
    const ends = [
      ...kept.map(({ until }) => until),
      ...(this.trialUntil === null ? [] : [this.trialUntil]),
    ];
    const until = ends.includes(null) ? null : Math.max(-1, ...ends.map((end) => end ?? 0));
    const taken = Math.max(-1, ...returned.map((entry) => entry.until ?? Number.POSITIVE_INFINITY));
    // Refunded: nothing that is paid was left on that day.
    const isRefunded =
      until !== null && taken > until && this.#refundedOn !== null && until <= this.#refundedOn;
    const { product } = this.plan;
    return {
      product,
      ...this.#expectUnits(),
      updatesUntil: null,
      until: isRefunded && Number.isFinite(taken) ? taken : isRefunded ? null : until,
      isRefunded,
      isCanceled: this.isCanceled,
      isPaused: this.isPaused,
      isDisputed: this.#disputed.size > 0,
    };
  }
  #expectUnits(): Pick<Expected, 'keys' | 'machines' | 'email'> {
    const quantity = this.#entries[0]?.payment.quantity ?? 1;
    const areKeys = this.plan === PLANS.seat;
    return {
      keys: areKeys ? quantity : 1,
      machines: MACHINES * (areKeys ? 1 : quantity),
      email: this.buyer.giftTo ?? (this.isBuyerKnown ? this.buyer.email : null),
    };
  }
}
