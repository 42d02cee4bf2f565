import { DEFAULT_OFFLINE_DAYS } from '#server/config/catalog-model.ts';
import type { Catalog } from '#server/config/catalog.ts';
import type { Queryable } from '#server/db/statement.ts';

import { listSoldTerms } from './queries/licenses.ts';
import type { LicenseStatusFacts, LicenseTerms } from './rules/facts.ts';

/** The facts of a license on which its terms depend. */
export type TermedLicense = Pick<LicenseStatusFacts, 'id' | 'productId' | 'trial'>;

/** The tier of every trial. */
export const TRIAL_TIER = 'trial';

/**
 * Returns the terms of a license by the present catalogue, so that a feature added to a product reaches its buyers; null
 * when the product is no longer in the catalogue.
 */
export function findCatalogTerms(
  catalog: Catalog,
  license: Omit<TermedLicense, 'id'>,
): LicenseTerms | null {
  const product = catalog.products.get(license.productId);
  if (product === undefined) return null;
  const { offlineDays } = product;
  if (license.trial) return { tier: TRIAL_TIER, features: catalog.trial.features, offlineDays };
  return { tier: product.tier, features: product.features, offlineDays };
}

/** Returns the terms of a license: the catalogue's, or else those under which it was sold. */
export async function readTerms(
  db: Queryable,
  catalog: Catalog,
  license: TermedLicense,
): Promise<LicenseTerms> {
  const terms = findCatalogTerms(catalog, license);
  if (terms !== null) return terms;
  return toSoldTerms(await listSoldTerms(db, [license.id]), license);
}

/** Returns the terms under which licenses were sold, in their order, for products no longer in the catalogue. */
export async function readSoldTerms(
  db: Queryable,
  licenses: readonly TermedLicense[],
): Promise<LicenseTerms[]> {
  const sold = await listSoldTerms(
    db,
    licenses.map(({ id }) => id),
  );
  return licenses.map((license) => toSoldTerms(sold, license));
}

function toSoldTerms(
  sold: Awaited<ReturnType<typeof listSoldTerms>>,
  { id }: TermedLicense,
): LicenseTerms {
  const terms = sold.get(id);
  return {
    tier: terms?.tier ?? null,
    features: terms?.features ?? [],
    offlineDays: DEFAULT_OFFLINE_DAYS,
  };
}
