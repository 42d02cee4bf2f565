/** Where a text stops being JSON, and why. */
export interface JsonFault {
  /** In characters (code points). */
  readonly offset: number;
  readonly reason: string;
}

const PLAIN_VALUE = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/**
 * Finds the position of a syntax error in JSON; the engine's messages do not always have it.
 * Reads every character once and keeps its own stack, so that hostile texts cost no more than honest ones.
 */
export function locateJsonFault(text: string): JsonFault {
  const scanner = new Scanner(text);
  const closers: ('}' | ']')[] = [];
  while (scanner.fault === undefined) {
    const opened = scanner.openOrReadValue(closers.at(-1) === '}');
    if (opened !== undefined) {
      closers.push(opened);
      if (!scanner.take(opened)) continue;
      closers.pop();
    }
    while (closers.length > 0 && scanner.take(closers.at(-1) ?? '')) closers.pop();
    if (scanner.fault !== undefined) break;
    if (closers.length === 0) {
      scanner.expectEnd();
      break;
    }
    if (!scanner.take(',')) scanner.fail("Expecting ',' delimiter");
  }
  const { offset, reason } = scanner.fault ?? { offset: 0, reason: 'Expecting value' };
  return { offset: countCharacters(text, offset), reason };
}

/** How many characters stand before `end`: the second half of a surrogate pair is none of its own. */
function countCharacters(text: string, end: number): number {
  let count = 0;
  for (let at = 0; at < end; at += 1) if ((text.charCodeAt(at) & 0xfc00) !== 0xdc00) count += 1;
  return count;
}

class Scanner {
  fault: JsonFault | undefined;
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  fail(reason: string, offset = this.#at): void {
    this.fault ??= { offset, reason };
  }

  /** Steps over white space, and over `symbol` when it comes next. */
  take(symbol: string): boolean {
    while (' \t\n\r'.includes(this.#text[this.#at] ?? '.')) this.#at += 1;
    if (this.#text[this.#at] !== symbol) return false;
    this.#at += 1;
    return true;
  }

  expectEnd(): void {
    if (!this.take('') && this.#at < this.#text.length) this.fail('Extra data');
  }

  /** Reads a value, its name first inside an object; of an object or array only the opening, whose closing it returns. */
  openOrReadValue(named: boolean): '}' | ']' | undefined {
    if (named && !this.#readName()) return undefined;
    if (this.take('{')) return '}';
    if (this.take('[')) return ']';
    if (this.take('"')) this.#readString();
    else if (!this.#match(PLAIN_VALUE)) this.fail('Expecting value');
    return undefined;
  }

  #readName(): boolean {
    if (!this.take('"')) {
      this.fail('Expecting property name enclosed in double quotes');
      return false;
    }
    this.#readString();
    if (!this.take(':')) this.fail("Expecting ':' delimiter");
    return this.fault === undefined;
  }

  #readString(): void {
    const start = this.#at - 1;
    for (;;) {
      const character = this.#text[this.#at];
      if (character === undefined) return this.fail('Unterminated string starting at', start);
      if (character < ' ') return this.fail('Invalid control character at');
      if (character === '\\') {
        if (!this.#match(ESCAPE)) return this.#failInEscape(start);
      } else {
        this.#at += 1;
        if (character === '"') return undefined;
      }
    }
  }

  #failInEscape(stringStart: number): void {
    const letter = this.#text[this.#at + 1];
    if (letter === undefined) this.fail('Unterminated string starting at', stringStart);
    else if (letter === 'u') this.fail('Invalid \\uXXXX escape', this.#at + 1);
    else this.fail('Invalid \\escape');
  }

  #match(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    this.#at += match?.[0].length ?? 0;
    return match !== null;
  }
}
