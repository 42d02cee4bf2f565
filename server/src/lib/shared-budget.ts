/** Outcome of a reservation: granted, refused for the holder's share, or refused because almost nothing is free. */
export type Reservation = 'granted' | 'share_exceeded' | 'exhausted';

/** With less than this fraction free, a refusal counts as exhaustion. */
const RESERVE_PART = 1 / 8;

/**
 * Divides a limited amount (bytes, connections) among holders (client networks), so that none of them can take all of
 * it: a holder may have as much as is still free. One greedy holder gets half, two get a third each, n leave a fraction
 * of 1/(n + 1) to the next one, and a single holder is not limited to a small fixed share. These are the dynamic
 * thresholds of shared-memory switches (Choudhury and Hahne, IEEE/ACM Transactions on Networking 6(2), 1998, α = 1).
 */
export class SharedBudget {
  readonly max: number;
  readonly #held = new Map<string, number>();
  #used = 0;

  /** @param max the whole amount, in units of the caller's choice */
  constructor(max: number) {
    this.max = max;
  }

  /** The amount that all holders have together. */
  get used(): number {
    return this.#used;
  }

  /** Whether so little is free that refusals count as exhaustion. */
  get isNearlyExhausted(): boolean {
    return this.max - this.#used < this.max * RESERVE_PART;
  }

  /** Reserves an amount for a holder, unless the limits forbid it. */
  reserve(holder: string, amount: number): Reservation {
    const held = (this.#held.get(holder) ?? 0) + amount;
    const free = this.max - this.#used - amount;
    if (held > free) return free < this.max * RESERVE_PART ? 'exhausted' : 'share_exceeded';
    this.#set(holder, held, amount);
    return 'granted';
  }

  /** Reserves an amount beyond all limits; it is released like any other. */
  reserveUnlimited(holder: string, amount: number): void {
    this.#set(holder, (this.#held.get(holder) ?? 0) + amount, amount);
  }

  /** Releases an amount that the holder has. */
  release(holder: string, amount: number): void {
    const left = (this.#held.get(holder) ?? 0) - amount;
    this.#used -= amount;
    if (left > 0) this.#held.set(holder, left);
    else this.#held.delete(holder);
  }

  #set(holder: string, held: number, added: number): void {
    this.#held.set(holder, held);
    this.#used += added;
  }
}
