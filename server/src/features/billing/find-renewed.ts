import { isUuid } from '@latchkey/contract';

import type { Product } from '#server/config/catalog-model.ts';
import type { Queryable } from '#server/db/statement.ts';
import type { Vault } from '#server/lib/vault.ts';

import type { LicenseKeyDependencies } from '../licenses/dependencies.ts';
import { hashWithAllSecrets } from '../licenses/license-key.ts';
import { findLicenseIdByKey } from '../licenses/queries/license-keys.ts';
import { listLicensesByIds, type LicenseRecord } from '../licenses/queries/licenses.ts';
import { listSoldProducts } from './queries/sales.ts';
import { SEALED_PREFIX } from './providers/custom-data.ts';
import type { RenewedLicense } from './rules/find-obstacle.ts';
import type { Purchase } from './rules/group-purchases.ts';
import type { ApplyDependencies } from './dependencies.ts';
import { findRenewedName, type RenewedLicenses } from './rules/plan-renewals.ts';
import type { BilledLine } from './rules/plan-licenses.ts';

const LABEL = 'billing:renewed';

/** Encrypts the license key that custom data name, to be stored in events and facts. */
export function sealNamedKey(vault: Vault, licenseKey: string): string {
  return vault.seal(licenseKey, LABEL).toString('base64url');
}

/** Finds the licenses that purchases name, unless a line of the purchase renews it already. */
export async function findRenewedLicenses(
  deps: LicenseKeyDependencies & Pick<ApplyDependencies, 'catalog'>,
  client: Queryable,
  purchases: readonly Purchase[],
  lines: readonly BilledLine[],
): Promise<RenewedLicenses> {
  const linked = new Set(
    lines
      .filter(({ renews }) => renews === true)
      .map(({ provider, transactionId }) => `${provider} ${transactionId}`),
  );
  const names = purchases
    .filter(
      ({ facts: { provider, payments } }) =>
        !payments.some(({ transactionId }) => linked.has(`${provider} ${transactionId}`)),
    )
    .flatMap((purchase) => findRenewedName(purchase) ?? []);
  const ids = new Map<string, string>();
  for (const name of new Set(names)) {
    const id = await findLicenseId(deps, client, name);
    if (id !== null) ids.set(name, id);
  }
  if (ids.size === 0) return new Map();
  const licenses = await listLicensesByIds(client, [...new Set(ids.values())]);
  const sold = await listSoldProducts(client, [...new Set(ids.values())]);
  const { products } = deps.catalog();
  return new Map(
    [...ids].map(([name, id]) => {
      const found = licenses.find((license) => license.id === id);
      if (found === undefined) return [name, null];
      const soldAs = sold
        .filter(({ licenseId, productId }) => licenseId === id && productId !== found.productId)
        .map(({ productId }) => ({
          productId,
          features: products.get(productId)?.features ?? null,
        }));
      return [name, { ...toRenewed(found, products), soldAs }];
    }),
  );
}

function toRenewed(
  license: LicenseRecord,
  products: ReadonlyMap<string, Product>,
): Omit<RenewedLicense, 'soldAs'> {
  const { id: licenseId, productId, maxActivations, expiresAt, customerEmail, isTest } = license;
  return {
    licenseId,
    productId,
    maxActivations,
    expiresAt,
    customerEmail,
    isTest,
    features: products.get(productId)?.features ?? license.features,
    isRevoked: license.revokedAt !== null,
    isTrial: license.trial,
  };
}

async function findLicenseId(
  deps: LicenseKeyDependencies,
  client: Queryable,
  name: string,
): Promise<string | null> {
  if (!name.startsWith(SEALED_PREFIX)) return isUuid(name) ? name.toLowerCase() : null;
  const key = openNamedKey(deps.vault, name.slice(SEALED_PREFIX.length));
  const hashes = key === null ? [] : hashWithAllSecrets(deps, key);
  return hashes.length === 0 ? null : findLicenseIdByKey(client, hashes);
}

/** Returns null for a text that is not sealed: a buyer may write anything into custom data. */
function openNamedKey(vault: Vault, sealed: string): string | null {
  try {
    return vault.open(Buffer.from(sealed, 'base64url'), LABEL);
  } catch {
    // Also when it was sealed under a master secret that is gone: the license is then unknown.
    return null;
  }
}
