import type { Catalog, Product } from '#server/config/catalog-model.ts';
import { findClosestName } from '#server/lib/closest-name.ts';

import type { ForeignLicense } from '../facts.ts';

/** The products of licenses: ids of the catalogue by ids or names in the source. */
export interface ProductMapping {
  readonly products: ReadonlyMap<string, string>;
  /** The product of everything else. Null: a license without a mapped product is not imported. */
  readonly otherwise: string | null;
}

/** The entry of a mapping for every product that has none. */
const EVERYTHING_ELSE = '*';

/** A mapping that cannot be used; the message is a sentence for the operator. */
export class MappingError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MappingError';
  }
}

/**
 * Reads a mapping from pairs such as `["4711", "personal"]`; `*` stands for every product without a pair.
 * @throws MappingError for a product that the catalogue does not have, or two pairs of the same name
 */
export function readMapping(
  pairs: readonly (readonly [old: string, product: string])[],
  catalog: Catalog,
): ProductMapping {
  const products = new Map<string, string>();
  for (const [old, product] of pairs) {
    if (!catalog.products.has(product)) throw new MappingError(describeUnknown(product, catalog));
    if (products.has(old)) throw new MappingError(`${JSON.stringify(old)} is mapped twice.`);
    products.set(old, product);
  }
  const otherwise = products.get(EVERYTHING_ELSE) ?? null;
  products.delete(EVERYTHING_ELSE);
  return { products, otherwise };
}

function describeUnknown(product: string, catalog: Catalog): string {
  const closest = findClosestName(product, catalog.products.keys());
  const known = closest ?? Array.from(catalog.products.keys()).join(', ');
  const hint = closest === undefined ? `it has ${known}` : `${closest} was probably meant`;
  return `The catalogue has no product ${JSON.stringify(product)}: ${hint}.`;
}

/**
 * Returns the product of a license: by a mapped id or name, by the price of the catalogue, by an id that is the same in both,
 * else the mapping's default. Null when there is none.
 */
export function findProduct(
  { products, prices }: Pick<ForeignLicense, 'products' | 'prices'>,
  mapping: ProductMapping,
  catalog: Catalog,
): Product | null {
  const names = products.flatMap(({ id, name }) => (name === null ? [id] : [id, name]));
  const mapped = names.flatMap((name) => mapping.products.get(name) ?? []);
  const priced = prices.flatMap(
    ({ provider, priceId }) => catalog.findPrice(provider, priceId)?.id ?? [],
  );
  const same = names.filter((name) => catalog.products.has(name));
  const [id = mapping.otherwise] = [...mapped, ...priced, ...same];
  return id === null ? null : (catalog.products.get(id) ?? null);
}

/** Returns the catalogue's product whose id or name resembles one of the names; null when none does. */
export function suggestProduct(names: readonly string[], catalog: Catalog): string | null {
  const known = new Map<string, string>();
  for (const { id, name } of catalog.products.values()) {
    known.set(fold(id), id).set(fold(name), id);
  }
  for (const name of names.map(fold)) {
    const similar = known.get(name) ?? known.get(findClosestName(name, known.keys()) ?? '');
    if (similar !== undefined) return similar;
    const part = Array.from(known).find(([each]) => each.length > 2 && name.includes(each));
    if (part !== undefined) return part[1];
  }
  return null;
}

function fold(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}
