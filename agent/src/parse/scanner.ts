const LINE_FEED = 0x0a;
const SPACE = 0x20;
const ZERO = 0x30;
const NINE = 0x39;

/** Scans the bytes of a kernel table without creating unneeded strings. */
export class Scanner {
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: Buffer, from = 0) {
    this.#bytes = bytes;
    this.#at = from;
  }

  isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** Returns the next word of this line; empty at the end of the line. */
  readWord(): string {
    const start = this.#skipBlanks();
    while (this.#at < this.#bytes.length && this.#byte() > SPACE) this.#at += 1;
    return this.#bytes.toString('latin1', start, this.#at);
  }

  skipWords(count: number): void {
    for (let word = 0; word < count; word += 1) {
      this.#skipBlanks();
      while (this.#at < this.#bytes.length && this.#byte() > SPACE) this.#at += 1;
    }
  }

  /** Returns the next whole number of this line; NaN when there is none. */
  readNumber(): number {
    const start = this.#skipBlanks();
    let value = 0;
    for (let byte = this.#byte(); byte >= ZERO && byte <= NINE; byte = this.#byte()) {
      value = value * 10 + (byte - ZERO);
      this.#at += 1;
    }
    return this.#at === start ? Number.NaN : value;
  }

  skipLine(): void {
    const end = this.#bytes.indexOf(LINE_FEED, this.#at);
    this.#at = end === -1 ? this.#bytes.length : end + 1;
  }

  #byte(): number {
    return this.#bytes[this.#at] ?? 0;
  }

  #skipBlanks(): number {
    while (this.#byte() === SPACE || this.#byte() === 0x09) this.#at += 1;
    return this.#at;
  }
}

/**
 * Parses lines of a name and a number: /proc/meminfo (`MemTotal:  1000 kB`, converted to bytes), /proc/vmstat, cpu.stat and
 * memory.stat of a control group.
 * @param wanted the names to find, without their colon
 */
export function parseKeyValues<Name extends string>(
  bytes: Buffer,
  wanted: ReadonlyMap<string, Name>,
): Map<Name, number> {
  const found = new Map<Name, number>();
  const scanner = new Scanner(bytes);
  while (!scanner.isAtEnd() && found.size < wanted.size) {
    const word = scanner.readWord();
    const name = wanted.get(word.endsWith(':') ? word.slice(0, -1) : word);
    if (name !== undefined) {
      const value = scanner.readNumber();
      if (!Number.isNaN(value)) found.set(name, scanner.readWord() === 'kB' ? value * 1024 : value);
    }
    scanner.skipLine();
  }
  return found;
}

/** Creates the names to find with `parseKeyValues`. */
export function keys<const Names extends readonly string[]>(
  ...names: Names
): ReadonlyMap<string, Names[number]> {
  return new Map(names.map((name) => [name, name]));
}
