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

/** Parses pasted addresses: one on each line, alone, as `Name <address>`, or as address, name and language. */
export function parseList(text: string): Candidate[] {
  return text
    .split(/\r\n|\r|\n/u)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map(parseLine)
    .filter(({ email }, index) => index > 0 || !HEADER.test(email));
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
