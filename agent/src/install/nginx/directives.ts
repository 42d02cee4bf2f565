import { faultAt, type NginxFault, type Token, tokenize } from './tokens.ts';

/** A directive of nginx with its offset in the file. */
export interface Directive {
  readonly name: string;
  /** The arguments without quotes and escapes. */
  readonly args: readonly string[];
  readonly start: number;
  /** Null for a directive that ends in a semicolon, and for Lua. */
  readonly block: Block | null;
}

export interface Block {
  /** The offsets of `{` and `}`. */
  readonly open: number;
  readonly close: number;
  readonly directives: readonly Directive[];
}

interface OpenBlock {
  readonly name: string;
  readonly args: readonly string[];
  readonly start: number;
  readonly open: number;
  readonly directives: Directive[];
}

const MAX_DEPTH = 64;
const ESCAPES: Readonly<Record<string, string>> = { t: '\t', r: '\r', n: '\n' };

/**
 * Parses the directives of a file.
 * @throws NginxFault for a text that nginx would also reject
 */
export function readDirectives(path: string, text: string): readonly Directive[] {
  const reader = new Reader(path, text);
  for (const token of tokenize(path, text)) reader.take(token);
  return reader.finish();
}

class Reader {
  readonly #path: string;
  readonly #text: string;
  readonly #top: Directive[] = [];
  readonly #open: OpenBlock[] = [];
  #words: Token[] = [];

  constructor(path: string, text: string) {
    this.#path = path;
    this.#text = text;
  }

  take(token: Token): void {
    if (token.kind === 'word') this.#words.push(token);
    else if (token.kind === 'open') this.#openBlock(token);
    else if (token.kind === 'close') this.#closeBlock(token);
    else if (token.kind === 'semicolon' || token.kind === 'lua') {
      this.#add({ ...this.#takeWords(token), block: null });
    }
  }

  finish(): readonly Directive[] {
    const [word] = this.#words;
    if (word !== undefined) throw this.#fault(word.start, 'a directive does not end');
    const block = this.#open.at(-1);
    if (block !== undefined) throw this.#fault(block.open, 'a block does not end');
    return this.#top;
  }

  #openBlock(token: Token): void {
    if (this.#open.length >= MAX_DEPTH)
      throw this.#fault(token.start, 'blocks are nested too deep');
    this.#open.push({ ...this.#takeWords(token), open: token.start, directives: [] });
  }

  #closeBlock(token: Token): void {
    const [word] = this.#words;
    if (word !== undefined) throw this.#fault(word.start, 'a directive does not end');
    const block = this.#open.pop();
    if (block === undefined) throw this.#fault(token.start, 'there is a "}" too many');
    const { name, args, start, open, directives } = block;
    this.#add({ name, args, start, block: { open, close: token.start, directives } });
  }

  #add(directive: Directive): void {
    (this.#open.at(-1)?.directives ?? this.#top).push(directive);
  }

  /** Returns the name and arguments before the token that ends them. */
  #takeWords(token: Token): { name: string; args: readonly string[]; start: number } {
    const [first, ...rest] = this.#words;
    if (first === undefined) throw this.#fault(token.start, 'a directive lacks its name');
    this.#words = [];
    return {
      name: readWord(this.#text, first),
      args: rest.map((each) => readWord(this.#text, each)),
      start: first.start,
    };
  }

  #fault(offset: number, what: string): NginxFault {
    return faultAt(this.#path, this.#text, offset, what);
  }
}

/** Returns a word without quotes and escapes. */
export function readWord(text: string, { start, end }: Token): string {
  const word = text.slice(start, end);
  const inner = /^["']/.test(word) ? word.slice(1, -1) : word;
  return inner.replaceAll(/\\(["'\\trn])/g, (_, sign: string) => ESCAPES[sign] ?? sign);
}
