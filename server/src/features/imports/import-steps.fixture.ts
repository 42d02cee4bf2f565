import type { Context } from '#server/context.ts';

import { UNKNOWN_LICENSE, type ForeignLicense, type ForeignRow } from './facts.ts';
import { importLicenses, type ImportRequest, type ImportResult } from './import-licenses.ts';
import { readMapping } from './rules/map-product.ts';

/** Returns a license of another system for the product `personal`, with an unguessable key. */
export function foreign(values: Partial<ForeignLicense> = {}): ForeignLicense {
  return {
    ...UNKNOWN_LICENSE,
    products: [{ id: 'personal', name: null }],
    expiresAt: null,
    ...values,
  };
}

/** Numbers licenses as the lines of a file, from 2. */
export function toRows(licenses: readonly ForeignLicense[]): ForeignRow[] {
  return licenses.map((license, index) => ({ line: index + 2, license }));
}

/** Imports licenses of Gumroad. */
export async function runImport(
  context: Context,
  licenses: readonly ForeignLicense[],
  options: Partial<ImportRequest> & {
    readonly pairs?: readonly (readonly [string, string])[];
  } = {},
): Promise<ImportResult> {
  const { pairs = [], ...request } = options;
  return importLicenses(context, toRows(licenses), {
    source: 'gumroad',
    origin: 'sales.csv',
    mapping: readMapping(pairs, context.catalog()),
    actor: 'cli:test',
    reason: 'the move',
    dryRun: false,
    ...request,
  });
}
