import type { CatalogCompatible } from '#server/config/catalog-model.ts';
import type { Product } from '#server/config/catalog.ts';

import type { LicenseDependencies } from '../licenses/dependencies.ts';
import { requireByKey } from '../licenses/find-license.ts';
import type { FoundLicense } from '../licenses/queries/find-by-key.ts';
import { findLicense, type LicenseRecord } from '../licenses/queries/licenses.ts';

/** Another system whose interface a product may offer. */
export type CompatibleSystem = 'lemonSqueezy' | 'gumroad';

/** A license whose product offers the interface of another system. */
export interface CompatibleLicense<System extends CompatibleSystem> {
  readonly license: LicenseRecord;
  readonly activation: FoundLicense['activation'];
  readonly product: Product;
  readonly offer: NonNullable<CatalogCompatible[System]>;
}

/**
 * Finds the license of a key.
 * @param activationId the machine to read with it; null for none
 * @returns null when the product of the license does not offer the interface
 * @throws licenseNotFound (404), or rateLimited (429) while the address is paused
 */
export async function findCompatible<System extends CompatibleSystem>(
  deps: LicenseDependencies,
  system: System,
  lookup: { readonly key: string; readonly activationId: string | null; readonly network: string },
): Promise<CompatibleLicense<System> | null> {
  const { key, activationId, network } = lookup;
  const found = await requireByKey(deps, key, activationId, network);
  const product = deps.catalog().products.get(found.license.productId);
  const offer = product?.compatible[system] ?? null;
  if (product === undefined || offer === null) return null;
  const license = await deps.databaseLimiter.run(() => findLicense(deps.pool, found.license.id));
  return license === null ? null : { license, activation: found.activation, product, offer };
}

/** Returns whether any product offers the interface of a system. */
export function isOffered(
  { catalog }: Pick<LicenseDependencies, 'catalog'>,
  system: CompatibleSystem,
): boolean {
  return [...catalog().products.values()].some(({ compatible }) => compatible[system] !== null);
}
