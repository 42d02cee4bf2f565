import { createHash } from 'node:crypto';

import { generateLicenseKey } from '#server/lib/license-key.ts';

/**
 * A text that a person typed or pasted, and how a client reads it.
 * - `ok`: a key of the service; `key` is its usual form.
 * - `mistyped`: has the form of such a key, and a wrong checksum; `key` is null.
 * - `foreign`: any other text, possibly a key issued elsewhere; `key` is the text without blanks around it.
 */
export interface KeyVector {
  readonly name: string;
  readonly text: string;
  readonly key: string | null;
  readonly verdict: 'ok' | 'mistyped' | 'foreign';
}

/** A key with O, I and L typed for its digits has to contain 0 and 1. */
const KEY = createKey('0 and 1');

/** Returns texts with their readings. */
export function listKeyVectors(): KeyVector[] {
  return [
    ...listAccepted(),
    ...listMistyped(),
    ...listForeign().map(([name, text]): KeyVector => ({
      name,
      text,
      key: text.trim(),
      verdict: 'foreign',
    })),
  ];
}

function listAccepted(): KeyVector[] {
  const symbols = KEY.slice(3);
  const compact = KEY.replaceAll('-', '');
  const texts: readonly (readonly [string, string, string?])[] = [
    ['as it was issued', KEY],
    ['small letters', KEY.toLowerCase()],
    ['blanks around it', `  ${KEY}\t`],
    ['a line break at the end', `${KEY}\r\n`],
    ['blanks for hyphens', KEY.replaceAll('-', ' ')],
    ['hyphens with blanks around them', KEY.replaceAll('-', ' - ')],
    ['no hyphens', compact],
    ['no hyphens, small letters', compact.toLowerCase()],
    ['hyphens in other places', compact.replaceAll(/(.{4})(?=.)/gu, '$1-')],
    ['an en dash for each hyphen', KEY.replaceAll('-', '\u2013')],
    ['a non-breaking hyphen for each hyphen', KEY.replaceAll('-', '\u2011')],
    ['no-break spaces for hyphens', KEY.replaceAll('-', '\u00A0')],
    ['O for 0', replaceInSymbols('0', 'O')],
    ['o for 0', replaceInSymbols('0', 'o')],
    ['I for 1', replaceInSymbols('1', 'I')],
    ['l for 1', replaceInSymbols('1', 'l')],
    ['no prefix', symbols, symbols],
    ['no prefix and no hyphens', symbols.replaceAll('-', ''), symbols],
    ['a prefix of one letter', `x-${symbols}`, `X-${symbols}`],
    ['a prefix of eight characters', `studio99-${symbols}`, `STUDIO99-${symbols}`],
    ['a prefix with O, I and L', `OIL-${symbols}`, `OIL-${symbols}`],
  ];
  return texts.map(([name, text, key = KEY]) => ({ name, text, key, verdict: 'ok' }));
}

function replaceInSymbols(digit: string, letter: string): string {
  return `LK-${KEY.slice(3).replaceAll(digit, letter)}`;
}

function listMistyped(): KeyVector[] {
  const swapped = KEY.replace(/^(.{3})(.)(.)/u, '$1$3$2');
  const texts: readonly (readonly [string, string])[] = [
    ['a wrong symbol', changeSymbol(5)],
    ['a wrong last symbol', changeSymbol(KEY.length - 1)],
    ['two symbols in the wrong order', swapped],
    ['a wrong symbol in small letters', changeSymbol(5).toLowerCase()],
    ['a wrong symbol, blanks for hyphens', changeSymbol(5).replaceAll('-', ' ')],
    ['a wrong symbol under another prefix', changeSymbol(5).replace('LK', 'STUDIO')],
  ];
  return texts.map(([name, text]) => ({ name, text, key: null, verdict: 'mistyped' }));
}

/** Replaces the symbol at an index by its successor. */
function changeSymbol(index: number): string {
  const symbol = KEY.charAt(index) === '7' ? '8' : '7';
  return KEY.slice(0, index) + symbol + KEY.slice(index + 1);
}

/** Keys of other shops and programs, and texts that are no keys: the service decides. */
function listForeign(): (readonly [string, string])[] {
  return [
    ['a UUID', '550e8400-e29b-41d4-a716-446655440000'],
    ['a UUID with blanks around it', ' 550e8400-e29b-41d4-a716-446655440000\n'],
    ['four groups of eight hexadecimal digits', '1A2B3C4D-5E6F7081-92A3B4C5-D6E7F809'],
    ['five groups of five without a prefix', 'AAAAA-BBBBB-CCCCC-DDDDD-EEEEE'],
    ['small letters of another program', 'abc-Def-123'],
    ['a missing symbol', KEY.slice(0, -1)],
    ['a group of four', KEY.replace(/^(.{3})./u, '$1')],
    ['a symbol too many', `${KEY}7`],
    ['U, which is no symbol', KEY.replace(/.$/u, 'U')],
    ['a prefix of nine characters', `STUDIO999-${KEY.slice(3)}`],
    ['a wrong symbol without hyphens', changeSymbol(5).replaceAll('-', '')],
    ['an e-mail address', 'ann@example.com'],
    ['a letter outside ASCII', KEY.replace(/.$/u, '\u212A')],
    ['underscores for hyphens', KEY.replaceAll('-', '_')],
  ];
}

/** Creates a key that contains 0 and 1, the same one each time. */
function createKey(name: string): string {
  for (let attempt = 0; ; attempt++) {
    const bytes = createHash('sha256').update(`latchkey conformance ${name} ${attempt}`).digest();
    const key = generateLicenseKey('LK', (count) => bytes.subarray(0, count));
    if (/0/.test(key) && /1/.test(key) && key.charAt(3) !== key.charAt(4)) return key;
  }
}
