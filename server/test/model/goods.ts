/** What the shop of the model sells, at every provider. */
import type { Plan, ProviderName } from '../../../soak/year/happenings.ts';
import { nameOf } from '../../../soak/year/writers/delivery.ts';
import { nameProduct as nameCreem } from '../../../soak/year/writers/creem.ts';
import { nameProduct as nameDodo } from '../../../soak/year/writers/dodo.ts';
import { nameProduct as nameFastSpring } from '../../../soak/year/writers/fastspring.ts';
import { nameProduct as namePolar } from '../../../soak/year/writers/polar.ts';
import { nameProduct as nameGumroad } from './write-gumroad.ts';

/** All nine providers. */
export type Seller = ProviderName | 'gumroad';

/** A product as it is in the catalogue before any edit. */
interface Product {
  readonly machines: number;
  /** Null: perpetual, or as long as it is paid. */
  readonly days: number | null;
  /** Days of updates. Null: all. */
  readonly updates: number | null;
  /** Whether a quantity of n is n keys. */
  readonly asKeys: boolean;
  readonly fromPool: boolean;
  /** It has the features of all products of lower levels. */
  readonly level: number;
}

const PLAIN = { machines: 2, days: null, updates: null, asKeys: false, fromPool: false, level: 1 };

export const PRODUCTS = {
  term: { ...PLAIN, days: 365 },
  forever: { ...PLAIN, level: 2 },
  versions: { ...PLAIN, machines: 3, updates: 365, level: 3 },
  seat: { ...PLAIN, machines: 1, asKeys: true },
  pooled: { ...PLAIN, fromPool: true },
  plan: { ...PLAIN, machines: 4, level: 3 },
  desk: { ...PLAIN, machines: 1, asKeys: true },
  kept: { ...PLAIN, machines: 5, updates: 30, level: 4 },
} as const satisfies Record<string, Product>;

export type ProductId = keyof typeof PRODUCTS;

/** Something with a price. */
export interface Good extends Plan {
  /** The products: several for a bundle, none for a price that the catalogue lacks. */
  readonly products: readonly ProductId[];
  /** Whether it renews the updates of its product. */
  readonly isUpdates: boolean;
}

function sell(
  number: number,
  products: readonly ProductId[],
  more: Partial<Pick<Good, 'cycle' | 'isUpdates'>> = {},
): Good {
  const name = `good${number}`;
  const isUpdates = false;
  return { name, number, product: null, amount: 1_000, cycle: null, products, isUpdates, ...more };
}

export const GOODS = {
  term: sell(101, ['term']),
  forever: sell(102, ['forever']),
  versions: sell(103, ['versions']),
  updates: sell(104, ['versions'], { isUpdates: true }),
  seats: sell(105, ['seat']),
  pooled: sell(106, ['pooled']),
  suite: sell(107, ['forever', 'seat']),
  unknown: sell(108, []),
  plan: sell(201, ['plan'], { cycle: 'month' }),
  desks: sell(202, ['desk'], { cycle: 'month' }),
  office: sell(203, ['plan', 'desk'], { cycle: 'month' }),
  kept: sell(204, ['kept'], { cycle: 'month' }),
} as const satisfies Record<string, Good>;

export type GoodName = keyof typeof GOODS;

export const GOOD_NAMES = Object.keys(GOODS).filter((name): name is GoodName => name in GOODS);

const ALL_GOODS: readonly Good[] = Object.values(GOODS);

/** What a product is after a number of edits of the catalogue: each makes everything a little larger. */
export function productAfter(edits: number, id: ProductId): Product {
  const { machines, days, updates, ...same }: Product = PRODUCTS[id];
  return {
    ...same,
    machines: machines + edits,
    days: days === null ? null : days + edits,
    updates: updates === null ? null : updates + edits,
  };
}

const PRICES: Readonly<Record<Seller, (good: Plan) => string>> = {
  paddle: nameOf.price,
  stripe: (good) => nameOf.price(good).replace('pri_', 'price_'),
  lemonsqueezy: ({ number, cycle }) => (cycle === null ? `once:${number}` : String(number)),
  polar: namePolar,
  dodo: nameDodo,
  creem: nameCreem,
  fastspring: nameFastSpring,
  standard: nameOf.price,
  gumroad: nameGumroad,
};

export const SELLERS = Object.keys(PRICES).filter((name): name is Seller => name in PRICES);

/** Writes the catalogue after a number of edits, in JSON, which is YAML. */
export function writeCatalog(edits: number): string {
  return JSON.stringify({
    key_prefix: 'LK',
    trial: { product: 'forever' },
    products: Object.keys(PRODUCTS)
      .filter((id): id is ProductId => id in PRODUCTS)
      .map((id) => writeProduct(id, productAfter(edits, id))),
    bundles: ALL_GOODS.filter(({ products }) => products.length > 1).map(
      ({ products, ...good }) => ({
        products,
        prices: listPrices([good]),
      }),
    ),
  });
}

function writeProduct(
  id: ProductId,
  { machines, days, updates, asKeys, fromPool, level }: Product,
) {
  const own = ALL_GOODS.filter(({ products }) => products.length === 1 && products[0] === id);
  const renewing = own.filter(({ isUpdates }) => isUpdates);
  return {
    id,
    name: id,
    tier: id,
    features: Array.from({ length: level }, (_, index) => `feature${index + 1}`),
    max_activations: machines,
    ...(days === null ? {} : { duration_days: days }),
    ...(updates === null ? {} : { updates_days: updates }),
    ...(asKeys ? { quantity: 'keys' } : {}),
    ...(fromPool ? { keys: 'pool' } : {}),
    prices: listPrices(own.filter(({ isUpdates }) => !isUpdates)),
    ...(renewing.length === 0 ? {} : { updates_prices: listPrices(renewing) }),
  };
}

function listPrices(goods: readonly Plan[]) {
  return Object.fromEntries(SELLERS.map((name) => [name, goods.map(PRICES[name])]));
}
