import type { Queryable } from '#server/db/statement.ts';
import { cutText } from '#server/lib/text.ts';

import { findWeakKeys } from '../licenses/rules/find-weak-keys.ts';
import { hashForStoring } from '../licenses/license-key.ts';
import type { ImportDependencies } from './dependencies.ts';
import type { ForeignProduct, ForeignRow, ImportSource } from './facts.ts';
import { readExisting } from './read-existing.ts';
import { decideRow, type Decision, type EvaluatedLicense } from './rules/decide-row.ts';
import { planLicense, type PlannedLicense, type PlanRules } from './rules/plan-license.ts';

/** Lines of earlier rows of the same import by their keys and ids. */
export type SeenRows = Map<string, number>;

/** A row and what an import does with it. */
export interface EvaluatedRow extends Decision {
  readonly line: number;
  /** Null for a row that is not imported. */
  readonly license: EvaluatedLicense | null;
  readonly unknownProducts: readonly ForeignProduct[];
}

export interface BatchOptions {
  readonly source: ImportSource;
  readonly rules: PlanRules;
  readonly allowWeakKeys: boolean;
}

/**
 * Decides what an import does with some rows, without storing anything.
 * @param seen earlier rows of the same import; not changed
 */
export async function evaluateBatch(
  deps: ImportDependencies,
  db: Queryable,
  rows: readonly ForeignRow[],
  options: BatchOptions,
  seen: ReadonlyMap<string, number>,
): Promise<EvaluatedRow[]> {
  const prepared = rows.map((row) => prepare(deps, row, options.rules));
  const licenses = prepared.flatMap(({ license }) => (license === null ? [] : [license]));
  const existing = await readExisting(deps, db, options.source, licenses);
  const weak = options.allowWeakKeys ? new Set<string>() : findWeak(licenses, options.rules);
  const batch = new Map<string, number>();
  const withKey = new Set<string>();
  return prepared.map((row) => {
    const { license, line } = row;
    if (license === null) return row;
    const names = namesOf(license);
    const earlier = firstOf(names, seen) ?? firstOf(names, batch);
    const isWeak = weak.has(license.licenseKey ?? '');
    const decision = decideRow(license, existing, { earlier, isWeak, withKey });
    if (earlier === null && decision.outcome !== 'weak') remember(names, line, batch);
    if (decision.outcome === 'key_added' && decision.existing !== null) {
      withKey.add(decision.existing.id);
    }
    return { ...row, ...decision };
  });
}

/** Remembers the rows of a batch for those after it. */
export function rememberRows(rows: readonly EvaluatedRow[], seen: SeenRows): void {
  for (const { license, outcome, line } of rows) {
    if (license === null || outcome === 'weak' || outcome === 'duplicate') continue;
    remember(namesOf(license), line, seen);
  }
}

/** The texts by which two rows are the same: the id, and the key in any spelling. */
function namesOf({ knownAs, keyHashes }: EvaluatedLicense): string[] {
  return [`id:${knownAs}`, ...keyHashes.map((hash) => `key:${hash}`)];
}

function remember(names: readonly string[], line: number, seen: SeenRows): void {
  for (const name of names) seen.set(name, line);
}

function firstOf(names: readonly string[], seen: ReadonlyMap<string, number>): number | null {
  for (const name of names) {
    const line = seen.get(name);
    if (line !== undefined) return line;
  }
  return null;
}

function prepare(deps: ImportDependencies, row: ForeignRow, rules: PlanRules): EvaluatedRow {
  const base = {
    line: row.line,
    license: null,
    existing: null,
    isUnlisted: false,
    importedEnd: null,
    unknownProducts: [],
  };
  if ('problem' in row) return { ...base, outcome: 'bad', problem: row.problem };
  if ('skipped' in row) return { ...base, outcome: 'skipped', problem: row.skipped };
  const plan = planLicense(row.license, rules);
  if (plan.kind === 'unknown_product') {
    return {
      ...base,
      outcome: plan.kind,
      problem: describeUnknown(plan.products),
      unknownProducts: plan.products,
    };
  }
  if (plan.kind !== 'license') return { ...base, outcome: plan.kind, problem: plan.problem };
  const license = identify(deps, plan.license, row.line);
  return { ...base, outcome: 'new', problem: null, license };
}

function describeUnknown([product]: readonly ForeignProduct[]): string {
  if (product === undefined) return 'The row names no product: name one with --product.';
  const named = [product.id, product.name].filter((each) => each !== null);
  const quoted = named.map((each) => JSON.stringify(cutText(each, MAX_SHOWN_CHARACTERS)));
  return `The product ${quoted.join(', ')} is not mapped to a product of the catalogue.`;
}

/** Of a product's name in a problem. */
const MAX_SHOWN_CHARACTERS = 100;

function identify(
  deps: ImportDependencies,
  license: PlannedLicense,
  line: number,
): EvaluatedLicense {
  const { licenseKey, sourceId } = license;
  const keyHashes = licenseKey === null ? [] : hashForStoring(deps, licenseKey);
  const knownAs = sourceId ?? `key:${keyHashes[0] ?? `line ${line}`}`;
  return { ...license, knownAs, keyHashes };
}

function findWeak(licenses: readonly EvaluatedLicense[], { catalog }: PlanRules): Set<string> {
  const keys = licenses.flatMap(({ licenseKey }) => licenseKey ?? []);
  const isWeak = findWeakKeys(keys, catalog.keyPrefix);
  return new Set(keys.filter((_, index) => isWeak[index]));
}
