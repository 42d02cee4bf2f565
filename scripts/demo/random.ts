/** Pseudo-random numbers from a seed, so that every demo with the same seed has the same people and figures. */

/** One stream of numbers. The same seed and label return the same numbers, whatever other streams returned. */
export class Random {
  readonly #seed: string;
  #state: number;

  constructor(seed: string) {
    this.#seed = seed;
    this.#state = hashText(seed);
  }

  /** Returns an independent stream. */
  fork(label: string): Random {
    return new Random(`${this.#seed}/${label}`);
  }

  /** Returns a number from 0 to 1, excluding 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** Returns an integer from `min` to `max`, both included. */
  integer(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[Math.floor(this.next() * items.length)];
    if (item === undefined) throw new RangeError('there is nothing to pick from');
    return item;
  }

  /** Picks by weights, which need not sum to 1. */
  weighted<Item>(choices: readonly (readonly [item: Item, weight: number])[]): Item {
    let rest = this.next() * choices.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [item, weight] of choices) {
      rest -= weight;
      if (rest < 0) return item;
    }
    return this.pick(choices)[0];
  }

  /** Returns a number of an exponential distribution. */
  exponential(mean: number): number {
    return -mean * Math.log(1 - this.next());
  }

  /** Returns lower-case letters and digits, as ids of payment providers have. */
  symbols(count: number): string {
    return Array.from({ length: count }, () => SYMBOLS[this.integer(0, 31)]).join('');
  }

  /** Returns hexadecimal digits. */
  hex(count: number): string {
    return Array.from({ length: count }, () => this.integer(0, 15).toString(16)).join('');
  }

  /** Returns a UUID of version 4. */
  uuid(): string {
    const variant = this.pick(['8', '9', 'a', 'b']);
    return `${this.hex(8)}-${this.hex(4)}-4${this.hex(3)}-${variant}${this.hex(3)}-${this.hex(12)}`;
  }
}

const SYMBOLS = '0123456789abcdefghjkmnpqrstvwxyz';

/** FNV-1a, 32 bits. */
function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}
