import {
  type CatalogMoves,
  DEFAULT_EXTRA_MOVES,
  DEFAULT_MOVE_DAYS,
  DEFAULT_OFFLINE_DAYS,
  PRICE_PROVIDERS,
  type Product,
  type PriceProvider,
} from './catalog-model.ts';
import { openFields, readInteger, readText, readTexts, type Fields } from './catalog-fields.ts';
import type { CatalogPath, CatalogProblem } from './catalog-problems.ts';
import { FEATURES, ID_RULE, LABEL_RULE, NAME_RULE, PRICE_RULE } from './catalog-rules.ts';

const MAX_PRODUCTS = 1000;
const MAX_PRICES = 100;
const ACTIVATIONS = { min: 1, max: 1_000_000 };
const DURATION_DAYS = { min: 1, max: 36_500 };
const OFFLINE_DAYS = { min: 1, max: 365 };
const EXTRA_MOVES = { min: 0, max: 1_000_000 };
const MOVE_DAYS = { min: 1, max: 365 };

const PRODUCT_FIELDS = [
  'id',
  'name',
  'product_type',
  'tier',
  'features',
  'max_activations',
  'duration_days',
  'offline_days',
  'moves',
  'prices',
];

/** Reads `products` and adds problems. */
export function readProducts(root: unknown, problems: CatalogProblem[]): readonly Product[] {
  // readTopLevel reports a top level that is no mapping.
  if (typeof root !== 'object' || root === null || Array.isArray(root)) return [];
  const list: unknown = 'products' in root ? root.products : undefined;
  if (!Array.isArray(list) || list.length === 0 || list.length > MAX_PRODUCTS) {
    problems.push({ path: ['products'], text: `must be a list of 1 to ${MAX_PRODUCTS} products` });
    return [];
  }
  const products = list.map((value: unknown, index) =>
    readProduct(value, ['products', index], problems),
  );
  reportRepeatedIds(products, problems);
  reportRepeatedPrices(products, problems);
  return products;
}

function readProduct(value: unknown, path: CatalogPath, problems: CatalogProblem[]): Product {
  const fields = openFields(value, path, PRODUCT_FIELDS, problems);
  const id = readText(fields, 'id', ID_RULE);
  const offlineDays = readInteger(fields, 'offline_days', OFFLINE_DAYS, DEFAULT_OFFLINE_DAYS);
  return {
    id,
    name: readText(fields, 'name', NAME_RULE),
    productType: readText(fields, 'product_type', LABEL_RULE, id),
    tier: readText(fields, 'tier', LABEL_RULE),
    features: readTexts(fields, 'features', LABEL_RULE, FEATURES),
    maxActivations: readInteger(fields, 'max_activations', ACTIVATIONS),
    durationDays: readInteger(fields, 'duration_days', DURATION_DAYS, null),
    offlineDays,
    moves: readMoves(fields, offlineDays),
    prices: readPrices(fields),
  };
}

/** The default period is as long as the longest token, so that freed machines with a valid one are counted. */
function readMoves(product: Fields, offlineDays: number): CatalogMoves {
  const path = [...product.path, 'moves'];
  const value = product.values.get('moves') ?? {};
  const fields = openFields(value, path, ['extra', 'days'], product.problems);
  const days = Math.max(DEFAULT_MOVE_DAYS, offlineDays);
  return {
    extra: readInteger(fields, 'extra', EXTRA_MOVES, DEFAULT_EXTRA_MOVES),
    days: readInteger(fields, 'days', MOVE_DAYS, days),
  };
}

function readPrices(product: Fields): Product['prices'] {
  const path = [...product.path, 'prices'];
  const value = product.values.get('prices') ?? {};
  const fields = openFields(value, path, PRICE_PROVIDERS, product.problems);
  const read = (provider: PriceProvider): readonly string[] =>
    readTexts(fields, provider, PRICE_RULE, { maxItems: MAX_PRICES });
  return {
    paddle: read('paddle'),
    stripe: read('stripe'),
    lemonsqueezy: read('lemonsqueezy'),
    standard: read('standard'),
  };
}

function reportRepeatedIds(products: readonly Product[], problems: CatalogProblem[]): void {
  for (const [index, { id }] of products.entries()) {
    const first = products.findIndex((product) => product.id === id);
    if (id !== '' && first < index) {
      const text = `repeats ${id}, the id of products[${first}]`;
      problems.push({ path: ['products', index, 'id'], text });
    }
  }
}

/** A price says what was bought, so it may belong to one product only. */
function reportRepeatedPrices(products: readonly Product[], problems: CatalogProblem[]): void {
  for (const provider of PRICE_PROVIDERS) {
    const owners = new Map<string, number>();
    for (const [index, { prices }] of products.entries()) {
      for (const priceId of prices[provider]) {
        const owner = owners.get(priceId);
        if (owner === undefined) owners.set(priceId, index);
        else {
          const text = `repeats ${priceId}, a price of products[${owner}]`;
          problems.push({ path: ['products', index, 'prices', provider], text });
        }
      }
    }
  }
}
