/** The paid time of a subscription, as its buyer counts it: a list of paid periods, and what the provider said last. */

interface Period {
  readonly from: number;
  readonly until: number;
  refundedOn: number | null;
}

/** What a subscription is on the last day. */
export interface SubscriptionState {
  readonly end: number;
  readonly isRefunded: boolean;
  readonly canceledOn: number | null;
  /** The day of the newest payment or active report. */
  readonly paidOn: number;
  /** When the newest paid period began. */
  readonly periodFrom: number;
}

export class SubscriptionModel {
  readonly #periods: Period[] = [];
  /** The end that the provider reports; null: the subscription has ended. */
  #reported: number | null = null;
  #canceledOn: number | null = null;
  /** The quantities, oldest first. */
  readonly #quantities: { readonly quantity: number; readonly day: number }[] = [];
  quantity: number;
  #newest = 0;

  constructor(quantity: number) {
    this.quantity = quantity;
  }

  pay(day: number, from: number, until: number): void {
    this.#newest = day;
    this.#periods.push({ from, until, refundedOn: null });
  }

  report(until: number, day: number): void {
    this.#newest = day;
    this.#reported = until;
    this.#quantities.push({ quantity: this.quantity, day });
  }

  cancel(day: number): void {
    this.#reported = null;
    this.#canceledOn = day;
  }

  refund(number: number, day: number): void {
    const period = this.#periods[number];
    if (period !== undefined) period.refundedOn = day;
  }

  get isCanceled(): boolean {
    return this.#canceledOn !== null;
  }

  isRefunded(number: number): boolean {
    return this.#periods[number]?.refundedOn != null;
  }

  get largestQuantity(): number {
    return Math.max(this.quantity, ...this.#quantities.map(({ quantity }) => quantity));
  }

  /** When a key ended because fewer were wanted; null: it is wanted. @param number the first key is 0 */
  endOfKey(number: number): number | null {
    let endedOn: number | null = null;
    for (const { quantity, day } of this.#quantities) {
      endedOn = quantity > number ? null : (endedOn ?? day);
    }
    return endedOn;
  }

  state(): SubscriptionState {
    const kept = this.#periods.filter(({ refundedOn }) => refundedOn === null);
    const refunded = this.#periods.filter(({ refundedOn }) => refundedOn !== null);
    const paid = Math.max(-1, ...kept.map(({ until }) => until));
    const end = this.#endFrom(paid, kept, refunded);
    const last = refunded.toSorted((a, b) => a.until - b.until).at(-1);
    const isRefunded = last?.refundedOn != null && last.until > end && last.refundedOn >= end;
    return {
      end: isRefunded && last !== undefined ? last.until : end,
      isRefunded,
      canceledOn: this.#canceledOn,
      paidOn: this.#newest,
      periodFrom: Math.max(...this.#periods.map(({ from }) => from)),
    };
  }

  /** The provider's word on the period counts, unless the money for it went back. */
  #endFrom(paid: number, kept: readonly Period[], refunded: readonly Period[]): number {
    const reported = this.#reported;
    if (reported === null) return paid;
    const isReturned = paid < reported && refunded.some(({ until }) => until === reported);
    if (isReturned) return paid;
    return Math.max(
      reported,
      ...kept.filter(({ from }) => from >= reported).map(({ until }) => until),
    );
  }
}
