const LINE_FEED = 0x0a;
const SPACE = 0x20;
const ZERO = 0x30;
const NINE = 0x39;

/** Walks over the bytes of a table of the kernel, without making strings of what is not needed. */
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

  /** The next word of this line, without the white space before it; empty at the end of the line. */
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

  /** The next whole number of this line; NaN where something else or nothing is next. */
  readNumber(): number {
    const start = this.#skipBlanks();
    let value = 0;
    for (let byte = this.#byte(); byte >= ZERO && byte <= NINE; byte = this.#byte()) {
      value = value * 10 + (byte - ZERO);
      this.#at += 1;
    }
    return this.#at === start ? Number.NaN : value;
  }

  /** What is left of this line; then the next line begins. */
  readLine(): string {
    const start = this.#skipBlanks();
    const end = this.#bytes.indexOf(LINE_FEED, start);
    this.#at = end === -1 ? this.#bytes.length : end + 1;
    return this.#bytes.toString('utf8', start, end === -1 ? this.#bytes.length : end);
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
 * Reads lines of a name and a number: /proc/meminfo (`MemTotal:  1000 kB`, given in bytes), /proc/vmstat, cpu.stat and
 * memory.stat of a control group.
 * @param wanted the names to look for, without their colon; the rest costs almost nothing
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

/** Names to look for with `parseKeyValues`. */
export function keys<const Names extends readonly string[]>(
  ...names: Names
): ReadonlyMap<string, Names[number]> {
  return new Map(names.map((name) => [name, name]));
}
