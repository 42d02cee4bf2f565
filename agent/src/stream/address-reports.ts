import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';

const INTERVAL_MS = 60_000;

/** As many addresses are told in a minute; a flood from more of them must not fill the disk with its log. */
const MAX_ADDRESSES = 500;

/** Tells of troublesome visitors, each address once a minute. */
export class AddressReports {
  readonly #clock: Clock;
  readonly #log: Log;
  /** When an address may be told again. The oldest are first, since all wait equally long. */
  readonly #quietUntilMs = new Map<string, number>();

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** @param problem a sentence; nothing that the visitor wrote */
  report(address: string, problem: string): void {
    const nowMs = this.#clock.monotonicMs();
    this.#forget(nowMs);
    if (this.#quietUntilMs.has(address) || this.#quietUntilMs.size >= MAX_ADDRESSES) return;
    this.#quietUntilMs.set(address, nowMs + INTERVAL_MS);
    this.#log.warn(problem, { address });
  }

  #forget(nowMs: number): void {
    for (const [address, untilMs] of this.#quietUntilMs) {
      if (untilMs > nowMs) return;
      this.#quietUntilMs.delete(address);
    }
  }
}
