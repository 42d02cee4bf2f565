import type { Catalog } from '#server/config/catalog.ts';
import type { Queryable } from '#server/db/statement.ts';

import { findSoldTerms } from './queries/licenses.ts';
import type { LicenseStanding } from './rules/facts.ts';

/** What a license gives its holder. */
export interface LicenseTerms {
  readonly tier: string | null;
  readonly features: readonly string[];
  /** How long a client may run without asking again. */
  readonly offlineDays: number;
}

const TRIAL_TIER = 'trial';

/** For a product that has left the catalogue. */
const DEFAULT_OFFLINE_DAYS = 14;

/**
 * The terms of a license as the catalogue has them today, so that a feature added to a product reaches everyone who
 * bought it; null when the product has left the catalogue.
 */
export function findCatalogTerms(
  catalog: Catalog,
  license: Pick<LicenseStanding, 'productId' | 'trial'>,
): LicenseTerms | null {
  const product = catalog.products.get(license.productId);
  if (product === undefined) return null;
  const { offlineDays } = product;
  if (license.trial) return { tier: TRIAL_TIER, features: catalog.trial.features, offlineDays };
  return { tier: product.tier, features: product.features, offlineDays };
}

/** The terms of a license: the catalogue's, or else those that it was sold under. */
export async function readTerms(
  db: Queryable,
  catalog: Catalog,
  license: Pick<LicenseStanding, 'id' | 'productId' | 'trial'>,
): Promise<LicenseTerms> {
  const terms = findCatalogTerms(catalog, license);
  if (terms !== null) return terms;
  const sold = await findSoldTerms(db, license.id);
  return {
    tier: sold?.tier ?? null,
    features: sold?.features ?? [],
    offlineDays: DEFAULT_OFFLINE_DAYS,
  };
}
