/** The books of licenses that further purchases renew: what counts is what was neither paid back nor is disputed. */
import { MACHINES, type Books, type Expected } from './books.ts';
import { PLANS, TERM_DAYS, type Buyer, type Paid, type Plan } from './happenings.ts';

abstract class Renewals implements Books {
  readonly buyer: Buyer;
  readonly unearned: ReadonlySet<Paid> = new Set();
  readonly payments: Paid[] = [];
  protected readonly returned = new Set<Paid>();
  protected readonly disputed = new Set<Paid>();
  abstract readonly plan: Plan;

  constructor(buyer: Buyer) {
    this.buyer = buyer;
  }

  pay(payment: Paid): void {
    this.payments.push(payment);
  }

  refund(payment: Paid): void {
    this.returned.add(payment);
  }

  dispute(payment: Paid): void {
    this.disputed.add(payment);
  }

  win(payment: Paid): void {
    this.disputed.delete(payment);
  }

  abstract expect(): Expected | null;

  protected counts(payment: Paid): boolean {
    return !this.returned.has(payment) && !this.disputed.has(payment);
  }

  /** What a license is by one of its payments. */
  protected expectOf(payment: Paid): Omit<Expected, 'until' | 'updatesUntil'> {
    return {
      product: payment.plan.product,
      keys: 1,
      machines: MACHINES,
      email: this.buyer.email,
      isRefunded: this.returned.has(payment),
      isDisputed: this.disputed.has(payment),
      isCanceled: false,
      isPaused: false,
    };
  }
}

/** Terms of the same product follow each other; one of another product begins when it is bought. */
export class TermAccount extends Renewals {
  readonly plan: Plan = PLANS.desk;

  expect(): Expected | null {
    const kept = this.payments.filter((payment) => this.counts(payment));
    const newest = this.payments.findLast((payment) => this.disputed.has(payment));
    const last = kept.at(-1) ?? newest ?? this.payments.at(-1);
    if (last === undefined) return null;
    const counted = kept.length === 0 ? [last] : kept;
    let until = 0;
    let product: string | null = null;
    for (const { day, plan } of counted) {
      const isSame = plan.product === product;
      until = isSame ? Math.max(until, day) + TERM_DAYS : Math.max(until, day + TERM_DAYS);
      product = plan.product;
    }
    return { ...this.expectOf(last), until, updatesUntil: null };
  }
}

/** The license stays, and each payment adds to its updates. */
export class UpdatesAccount extends Renewals {
  readonly plan: Plan = PLANS.tool;

  expect(): Expected | null {
    const [sale] = this.payments;
    if (sale === undefined) return null;
    let until = sale.day;
    for (const payment of this.payments) {
      if (this.counts(payment)) until = Math.max(until, payment.day) + TERM_DAYS;
    }
    return { ...this.expectOf(sale), until: null, updatesUntil: until };
  }
}
