import { decodeSymbol, encodeSymbol } from '#server/lib/license-key.ts';
import type { KeyedHashes } from '#server/lib/vault.ts';

/** 30 bits: with five tries for each of 40 codes in a day, a guesser needs ten thousand years for all of them. */
const CODE_SYMBOLS = 6;

/** How long a code can be entered. */
export const CODE_TERM_MS = 15 * 60_000;

/** How often a code can be entered. */
export const MAX_TRIES = 5;

const HOUR_MS = 3_600_000;

/** How many codes can be requested for an address in a period, from all networks together. Both must allow a request. */
export const CODE_LIMITS = [
  { codes: 20, periodMs: HOUR_MS },
  { codes: 40, periodMs: 24 * HOUR_MS },
] as const;

/** How long a code counts. */
export const CODE_COUNTED_MS = Math.max(...CODE_LIMITS.map(({ periodMs }) => periodMs));

/**
 * Derives a code: six symbols of Crockford's base 32. It is not stored, and a retried e-mail has the same.
 * @param tokenHash the hash of the token that only one browser has, in hexadecimal digits
 */
export function deriveCode(hashes: Pick<KeyedHashes, 'hashText'>, tokenHash: string): string {
  const digits = hashes.hashText('buyer-code', tokenHash).slice(-2 * CODE_SYMBOLS);
  return Array.from(Buffer.from(digits, 'hex'), encodeSymbol).join('');
}

/** Formats a code for people: two groups. */
export function formatCode(code: string): string {
  return `${code.slice(0, CODE_SYMBOLS / 2)} ${code.slice(CODE_SYMBOLS / 2)}`;
}

/**
 * Reads a code as a person types it: case, spaces and hyphens do not matter, I and L are read as 1, O as 0.
 * @returns null for a text that cannot be a code
 */
export function readCode(text: string): string | null {
  const symbols = text.replaceAll(/[\s\p{Dash_Punctuation}]/gu, '');
  if (symbols.length !== CODE_SYMBOLS) return null;
  const values = Array.from(symbols, (symbol) => decodeSymbol(symbol.charCodeAt(0)));
  return values.includes(-1) ? null : values.map(encodeSymbol).join('');
}
