import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import type { FoundExpression } from './find-expressions.ts';

const PATH = join(import.meta.dirname, 'ledger.json');

/** Reads the expressions that were proved to be linear, as `/source/flags`. */
export function readLedger(): ReadonlySet<string> {
  return new Set(Parse(Type.Array(Type.String()), JSON.parse(readFileSync(PATH, 'utf8'))));
}

export function writeLedger(expressions: Iterable<string>): void {
  writeFileSync(PATH, `${JSON.stringify([...expressions].toSorted(), null, 2)}\n`);
}

export function formatExpression({
  source,
  flags,
}: Pick<FoundExpression, 'source' | 'flags'>): string {
  return `/${source}/${flags}`;
}

/** Returns the places of each expression. */
export function groupByExpression(
  found: readonly FoundExpression[],
): ReadonlyMap<string, readonly FoundExpression[]> {
  return Map.groupBy(found, formatExpression);
}
