import type { Product } from '#server/config/catalog-model.ts';
import { anyProduct } from '#server/config/product.fixture.ts';

import type { BillingEvent } from '../facts.ts';
import { PRICES } from './facts.fixture.ts';
import { groupPurchases, type LedgerEntry } from './group-purchases.ts';
import { planLicenses, type AdoptableLicense, type LicensePlans } from './plan-licenses.ts';

const MACHINES: Readonly<Record<string, number>> = { personal: 2, sellers: 10, yearly: 3 };

function toProduct(id: string): Product {
  const maxActivations = MACHINES[id] ?? 1;
  const { prices, ...product } = anyProduct({ id, maxActivations });
  const paddle = Object.entries(PRICES).flatMap(([name, price]) => (name === id ? [price] : []));
  return {
    ...product,
    durationDays: id === 'yearly' ? 365 : null,
    prices: { ...prices, paddle },
  };
}

/** The products of the test catalogue by id. */
export const PRODUCTS: ReadonlyMap<string, Product> = new Map(
  Object.keys(MACHINES).map((id) => [id, toProduct(id)]),
);

/** Finds the product of a price of the test catalogue. */
export function findPrice(_provider: string, priceId: string): Product | null {
  const name = Object.entries(PRICES).find(([, price]) => price === priceId)?.[0];
  return name === undefined ? null : (PRODUCTS.get(name) ?? null);
}

/** Plans the licenses of events by the test catalogue, as if none existed but imported ones. */
export function planFacts(
  events: readonly BillingEvent[],
  elsewhere: readonly AdoptableLicense[] = [],
  repairs: readonly LedgerEntry[] = [],
): LicensePlans {
  const entries = events.flatMap(({ provider, eventId, facts }): LedgerEntry[] =>
    facts.flatMap((fact) => (fact.kind === 'customer' ? [] : [{ provider, eventId, fact }])),
  );
  const catalog = { findPrice, products: PRODUCTS };
  return planLicenses(groupPurchases([...entries, ...repairs]), [], catalog, elsewhere);
}
