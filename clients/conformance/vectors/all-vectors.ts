import { listAcceptedTokens } from './accepted-tokens.ts';
import { listClockVectors } from './clock-vectors.ts';
import { listFingerprintVectors } from './fingerprint-vectors.ts';
import { listForeignTokens } from './foreign-tokens.ts';
import { listForgedTokens } from './forged-tokens.ts';
import { listKeyVectors } from './key-vectors.ts';
import { listMalformedTokens } from './malformed-tokens.ts';
import type { TokenVector } from './token-vector.ts';

/** Returns all tokens. */
export function listTokenVectors(): TokenVector[] {
  return [
    ...listAcceptedTokens(),
    ...listMalformedTokens(),
    ...listForgedTokens(),
    ...listForeignTokens(),
  ];
}

/** Returns the content of every file of vectors, by its name: an array with one vector a line. */
export function renderVectors(): ReadonlyMap<string, string> {
  return new Map([
    ['tokens.json', renderLines(listTokenVectors())],
    ['keys.json', renderLines(listKeyVectors())],
    ['clocks.json', renderLines(listClockVectors())],
    ['fingerprints.json', renderLines(listFingerprintVectors())],
  ]);
}

function renderLines(vectors: readonly object[]): string {
  return `[\n${vectors.map((each) => JSON.stringify(each)).join(',\n')}\n]\n`;
}
