import { LANGUAGES, parseEmail, type Language } from '@latchkey/contract';

import { cleanName } from '../templates/render-template.ts';

/** Someone who may get a mail. */
export interface Candidate {
  /** Of a list also text that is no address. */
  readonly email: string;
  readonly name: string | null;
  /** Null: unknown. */
  readonly language: Language | null;
}

/** `Ada <ada@example.com>`. */
const NAMED = /^(?<name>[^<>]*)<(?<email>[^<>\s]+)>$/u;
/** A name with or without quotes around it. */
const NAME = /^"?(?<inner>[^"]*)"?$/u;
const SEPARATOR = /[,;\t]/u;

/** A name of a column instead of an address, as a spreadsheet exports it. */
const HEADER = /^e-?mail(?:[ _-]?address)?$/iu;

/** Longer than an address with a name; the rest of a line is ignored. */
const MAX_LINE_CHARACTERS = 1_000;

/**
 * Parses pasted addresses: one on each line, alone, as `Name <address>`, or as address, name and language. Lists have up to a million
 * lines, so they are parsed in pages, between which the caller lets the event loop run.
 * @param pageLines how many lines a page has
 */
export function* parseList(text: string, pageLines: number): Generator<readonly Candidate[]> {
  let isFirst = true;
  for (const lines of readPages(text, pageLines)) {
    const candidates = lines.map(parseLine);
    const [first] = candidates;
    const hasHeader = isFirst && first !== undefined && HEADER.test(first.email);
    isFirst &&= first === undefined;
    yield hasHeader ? candidates.slice(1) : candidates;
  }
}

/** Returns the lines with text, in pages. */
function* readPages(text: string, pageLines: number): Generator<string[]> {
  const ends = /\r\n|\r|\n|$/gu;
  for (let start = 0; start <= text.length;) {
    const lines: string[] = [];
    for (let count = 0; count < pageLines && start <= text.length; count += 1) {
      ends.lastIndex = start;
      const { 0: end, index } = ends.exec(text) ?? { 0: '', index: text.length };
      const line = text.slice(start, Math.min(index, start + MAX_LINE_CHARACTERS)).trim();
      if (line !== '') lines.push(line);
      start = index + Math.max(end.length, 1);
    }
    yield lines;
  }
}

function parseLine(line: string): Candidate {
  const { name: before = '', email: address } = NAMED.exec(line)?.groups ?? {};
  const inner = NAME.exec(before.trimEnd())?.groups?.['inner'];
  if (address !== undefined && inner !== undefined) {
    return { email: address, name: cleanName(inner), language: null };
  }
  const cells = line.split(SEPARATOR).map((cell) => cell.trim().replaceAll(/^"|"$/gu, ''));
  const [email = '', ...others] = cells;
  const language = LANGUAGES.find((each) => others.includes(each)) ?? null;
  const name = others.find((cell) => cell !== '' && cell !== language) ?? null;
  return { email: normalize(email), name: cleanName(name), language };
}

function normalize(text: string): string {
  const parsed = parseEmail(text);
  return 'email' in parsed ? parsed.email : text;
}
