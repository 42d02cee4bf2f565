/** The stock of keys of another system. */
import type { Catalog } from '#server/config/catalog.ts';
import type { Queryable } from '#server/db/statement.ts';

import { countFreePoolKeys, listKeyPools } from './queries/license-pool.ts';

/** A pool with fewer free keys needs more of them soon. */
export const FEW_KEYS = 10;

/** The keys of a product. */
export interface KeyPoolStock {
  readonly productId: string;
  /** Whether licenses of the product take keys of the pool. */
  readonly isUsed: boolean;
  readonly free: number;
  readonly taken: number;
  /** When keys were last added; null: never. */
  readonly newestAt: Date | null;
}

/** Lists the pools by product, with those of the catalogue that have no key. */
export async function viewKeyPools(
  db: Queryable,
  catalog: Pick<Catalog, 'products'>,
): Promise<KeyPoolStock[]> {
  const pools = await listKeyPools(db);
  const used = listPoolProducts(catalog);
  const known = new Set(pools.map(({ productId }) => productId));
  const empty = used.filter((productId) => !known.has(productId));
  return [
    ...pools.map((pool) => ({ ...pool, isUsed: used.includes(pool.productId) })),
    ...empty.map((productId) => ({
      productId,
      isUsed: true,
      free: 0,
      taken: 0,
      newestAt: null,
    })),
  ];
}

/** Counts the free keys by product, for the products of the catalogue that take keys of a pool. */
export async function countFreeKeys(
  db: Queryable,
  catalog: Pick<Catalog, 'products'>,
): Promise<Readonly<Record<string, number>>> {
  const used = listPoolProducts(catalog);
  if (used.length === 0) return {};
  const counts = await countFreePoolKeys(db, used);
  return Object.fromEntries(counts.map(({ productId, free }) => [productId, free]));
}

function listPoolProducts({ products }: Pick<Catalog, 'products'>): string[] {
  return [...products.values()].filter(({ keysFrom }) => keysFrom === 'pool').map(({ id }) => id);
}
