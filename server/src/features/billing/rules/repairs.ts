/** What operators repaired: facts beside those of the provider, which replays keep. */
import type { CustomerDetails } from '../facts.ts';
import type { Purchase, PurchaseFacts } from './group-purchases.ts';
import { listIssuedPrices, PRODUCT_PREFIX } from './issued.ts';
import type { SoldCatalog } from './plan-licenses.ts';
import type { SetAsideFact } from './set-aside.ts';

/** A price that an operator assigned to a product in all purchases. */
export interface AssignedPrice {
  readonly provider: string;
  readonly priceId: string;
  readonly productId: string;
}

/** Adds prices that operators assigned to products; the catalogue takes precedence. */
export function withAssignedPrices(
  catalog: SoldCatalog,
  prices: readonly AssignedPrice[],
): SoldCatalog {
  const productIds = new Map(
    prices.map(({ provider, priceId, productId }) => [`${provider} ${priceId}`, productId]),
  );
  return {
    ...catalog,
    findPrice: (provider, priceId) =>
      catalog.findPrice(provider, priceId) ??
      catalog.products.get(productIds.get(`${provider} ${priceId}`) ?? '') ??
      null,
  };
}

/** Adds what an operator repaired in a purchase, which takes precedence over the catalogue. */
export function withRepairs(catalog: SoldCatalog, facts: PurchaseFacts): SoldCatalog {
  const { repairs = [] } = facts;
  if (repairs.length === 0) return catalog;
  const issued = new Map(listIssuedPrices(facts));
  const productIds = new Map(
    repairs.flatMap((each) =>
      each.repair === 'price' ? [[each.priceId, each.productId] as const] : [],
    ),
  );
  const findPrice: SoldCatalog['findPrice'] = (source, priceId) => {
    const productId = priceId.startsWith(PRODUCT_PREFIX)
      ? priceId.slice(PRODUCT_PREFIX.length)
      : productIds.get(priceId);
    const product = productId === undefined ? undefined : catalog.products.get(productId);
    return (
      product ??
      catalog.findPrice(source, priceId) ??
      catalog.products.get(issued.get(priceId) ?? '') ??
      null
    );
  };
  return { ...catalog, findPrice };
}

/** Returns the facts without effect from whose events no operator has issued a license. */
export function withoutRepaired({
  setAside,
  repairs = [],
}: PurchaseFacts): readonly SetAsideFact[] {
  // Neither a price nor an address repairs what cannot be right.
  const issues = repairs.filter((each) => each.repair === 'issue');
  const repaired = new Set(issues.map(({ repairedEventId }) => repairedEventId));
  return setAside.filter(({ eventId }) => !repaired.has(eventId));
}

/** Replaces the address of a buyer by the one that an operator entered. */
export function repairCustomer(
  customer: CustomerDetails,
  { facts: { repairs = [] } }: Purchase,
): CustomerDetails {
  const addresses = repairs.flatMap((each) => (each.repair === 'address' ? [each.email] : []));
  const email = addresses.at(-1);
  return email === undefined ? customer : { ...customer, email };
}
