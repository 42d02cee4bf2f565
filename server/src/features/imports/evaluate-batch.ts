import type { Queryable } from '#server/db/statement.ts';
import { cutText } from '#server/lib/text.ts';

import { findWeakKeys } from '../licenses/rules/find-weak-keys.ts';
import { hashForStoring, hashWithAllSecrets } from '../licenses/license-key.ts';
import { listStoredKeys } from '../licenses/queries/license-keys.ts';
import { listLicensesByIds } from '../licenses/queries/licenses.ts';
import type { ImportDependencies } from './dependencies.ts';
import type { ForeignProduct, ForeignRow, ImportSource, KnownLicense } from './facts.ts';
import { listKnownLicenses } from './queries/imported-licenses.ts';
import { listSoldLicenses, type PaymentName } from './queries/sold-licenses.ts';
import {
  decideRow,
  type Decision,
  type EvaluatedLicense,
  type ExistingLicenses,
} from './rules/decide-row.ts';
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
  return prepared.map((row) => {
    const { license, line } = row;
    if (license === null) return row;
    const names = namesOf(license);
    const earlier = firstOf(names, seen) ?? firstOf(names, batch);
    const isWeak = weak.has(license.licenseKey ?? '');
    const decision = decideRow(license, existing, { earlier, isWeak });
    if (earlier === null && decision.outcome !== 'weak') remember(names, line, batch);
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

async function readExisting(
  deps: ImportDependencies,
  db: Queryable,
  source: ImportSource,
  licenses: readonly EvaluatedLicense[],
): Promise<ExistingLicenses> {
  const known = await listKnownLicenses(
    db,
    source,
    licenses.map(({ knownAs }) => knownAs),
  );
  const hashes = licenses.flatMap(({ licenseKey }) =>
    licenseKey === null ? [] : hashWithAllSecrets(deps, licenseKey),
  );
  const stored = await listStoredKeys(db, [...new Set(hashes)]);
  const sold = await listSoldLicenses(db, source, licenses.flatMap(listPaymentNames));
  const ids = [...known, ...stored, ...sold].map(({ licenseId }) => licenseId);
  const records = await listLicensesByIds(db, [...new Set(ids)]);
  const recordOf = new Map(records.map((record) => [record.id, record]));
  const ownerOf = new Map(stored.map(({ keyHash, licenseId }) => [keyHash, licenseId]));
  const knownOf = new Map<string, KnownLicense>(known.map((each) => [each.sourceId, each]));
  const soldOf = Map.groupBy(sold, toText);
  return {
    findKnown: ({ knownAs }) => knownOf.get(knownAs) ?? null,
    findRecord: (id) => recordOf.get(id) ?? null,
    findByKey: ({ licenseKey }) => {
      if (licenseKey === null) return null;
      const owners = hashWithAllSecrets(deps, licenseKey).flatMap(
        (hash) => ownerOf.get(hash) ?? [],
      );
      return recordOf.get(owners[0] ?? '') ?? null;
    },
    findSold: (license) => {
      const named = listPaymentNames(license).flatMap((name) => soldOf.get(toText(name)) ?? []);
      // The next event of a purchase without its checkout adopts the license with the old key.
      const fitting = named.filter(({ hasCheckout }) => hasCheckout || license.licenseKey === null);
      const sameName = fitting.flatMap(({ licenseId }) => recordOf.get(licenseId) ?? []);
      return sameName.find(({ productId }) => productId === license.product.id) ?? null;
    },
  };
}

function listPaymentNames({
  provider,
  subscriptionId,
  transactionId,
}: EvaluatedLicense): PaymentName[] {
  if (provider === null) return [];
  const ids = [
    { kind: 'subscription' as const, name: subscriptionId },
    { kind: 'transaction' as const, name: transactionId },
  ];
  return ids.flatMap(({ kind, name }) => (name === null ? [] : [{ provider, kind, name }]));
}

function toText({ provider, kind, name }: PaymentName): string {
  return `${provider} ${kind} ${name}`;
}

function findWeak(licenses: readonly EvaluatedLicense[], { catalog }: PlanRules): Set<string> {
  const keys = licenses.flatMap(({ licenseKey }) => licenseKey ?? []);
  const isWeak = findWeakKeys(keys, catalog.keyPrefix);
  return new Set(keys.filter((_, index) => isWeak[index]));
}
