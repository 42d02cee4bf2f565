import { hashKey, UuidColumn } from './uuids.ts';

/** The e-mails with keys that the relay accepted, by buyer. 25 bytes each. */
export class KeyMails {
  readonly counts: Uint8Array;
  /** When the last one was accepted; `performance.now()`. */
  readonly #acceptedAt: Float64Array;
  readonly #keys: UuidColumn;
  /** For each e-mail that was accepted again, when it was accepted before. */
  readonly repeatedFrom: number[] = [];
  /** E-mails with another key than the one before. */
  different = 0;

  constructor(size: number) {
    this.counts = new Uint8Array(size);
    this.#acceptedAt = new Float64Array(size);
    this.#keys = new UuidColumn(size);
  }

  /** Records an e-mail to a buyer. @param keys those in its text @param now `performance.now()` */
  record(buyer: number, keys: readonly string[], now: number): void {
    const key = hashKey(keys.join());
    const known = this.#keys.get(buyer);
    if (known !== null) {
      this.repeatedFrom.push(this.#acceptedAt[buyer] ?? 0);
      if (known !== key) this.different += 1;
    }
    this.#keys.set(buyer, key);
    this.#acceptedAt[buyer] = now;
    this.counts[buyer] = (this.counts[buyer] ?? 0) + 1;
  }

  get total(): number {
    return this.counts.reduce((all, each) => all + each, 0);
  }

  /** Returns the hash of the keys in the last e-mail to a buyer; null without an e-mail. */
  keyOf(buyer: number): string | null {
    return this.#keys.get(buyer);
  }
}
