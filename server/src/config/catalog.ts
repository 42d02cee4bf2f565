import {
  forEachLanguage,
  forEachProvider,
  PAYMENT_PROVIDERS,
  providerOf,
  type PaymentSource,
} from '@latchkey/contract';
import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';

import { messageOf } from '#server/lib/unknown-values.ts';
import type { Logger } from '#server/log.ts';

import { parseCatalogFile, type CatalogProblem } from './catalog-file.ts';
import {
  DEFAULT_EXTRA_MOVES,
  DEFAULT_MOVE_DAYS,
  DEFAULT_OFFLINE_DAYS,
  type Bundle,
  type Catalog,
  type CatalogBuyers,
  type CatalogCompatible,
  type CatalogOutreach,
  type Product,
} from './catalog-model.ts';
import type { CatalogFile } from './catalog-schema.ts';
import { findLinkProblem } from './product-links.ts';
import { StartupError } from './startup-error.ts';

export type { Catalog, CatalogOutreach, CatalogTrial, Product } from './catalog-model.ts';

const MAX_CATALOG_BYTES = 1024 * 1024;

/** The catalogue of a running service. */
export interface LiveCatalog {
  current(): Catalog;
  /** Reads the file again; if it is invalid, logs the problems and keeps the current catalogue. */
  reload(): void;
}

/**
 * Reads the catalogue and keeps it.
 * @throws StartupError as {@link parseCatalog} does
 */
export function openLiveCatalog(path: string, log: Pick<Logger, 'info' | 'error'>): LiveCatalog {
  let catalog = loadCatalog(path);
  return {
    current: () => catalog,
    reload() {
      try {
        catalog = loadCatalog(path);
        const fields = { event: 'catalog.reloaded', products: catalog.products.size };
        log.info(fields, 'reloaded the catalogue');
      } catch (error) {
        if (!(error instanceof StartupError)) throw error;
        const fields = { event: 'catalog.reload_failed', problems: error.problems };
        log.error(fields, 'could not reload the catalogue; the previous one stays in use');
      }
    },
  };
}

/**
 * Reads the catalogue.
 * @throws StartupError as {@link parseCatalog} does, and for a file that cannot be read
 */
export function loadCatalog(path: string): Catalog {
  return parseCatalog(readCatalogFile(path), basename(path));
}

/**
 * Parses a catalogue.
 * @param fileName the file name in problems
 * @throws StartupError with each problem, its line and its field; references (ids, prices) are checked once all fields
 *   are valid
 */
export function parseCatalog(text: string, fileName: string): Catalog {
  const file = parseCatalogFile(text, fileName, findReferenceProblems);
  const products = file.products.map(toProduct);
  const { product: productId, features } = file.trial;
  const byId = new Map(products.map((product) => [product.id, product]));
  const bundles = (file.bundles ?? []).map((bundle) => ({
    productIds: bundle.products,
    prices: forEachProvider((provider) => bundle.prices[provider] ?? []),
  }));
  const trialProduct = products.find(({ id }) => id === productId);
  return {
    keyPrefix: file.key_prefix.toUpperCase(),
    trial: { productId, features: features ?? trialProduct?.features ?? [] },
    outreach: toOutreach(file.outreach ?? {}, trialProduct?.name ?? ''),
    buyers: toBuyers(file.buyers ?? {}),
    products: byId,
    bundles,
    ...indexPrices(byId, bundles),
  };
}

function readCatalogFile(path: string): string {
  try {
    if (statSync(path).size > MAX_CATALOG_BYTES) throw new Error('larger than 1 MiB');
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new StartupError(
      [
        `The catalogue ${path} cannot be read (${messageOf(error)}): set LATCHKEY_CATALOG to a file that can.`,
      ],
      { cause: error },
    );
  }
}

function findReferenceProblems({ products, bundles = [], trial }: CatalogFile): CatalogProblem[] {
  const problems: CatalogProblem[] = [];
  const ids = new Set(products.map(({ id }) => id));
  for (const [index, { id, ...product }] of products.entries()) {
    if (product.updates_prices !== undefined && product.updates_days === undefined) {
      const text = 'needs updates_days, which a payment adds';
      problems.push({ path: ['products', index, 'updates_prices'], text });
    }
    problems.push(...findLinkProblems(product, index));
    const first = products.findIndex((each) => each.id === id);
    if (first < index) {
      const text = `repeats ${id}, the id of products[${first}]`;
      problems.push({ path: ['products', index, 'id'], text });
    }
  }
  for (const [index, bundle] of bundles.entries()) {
    for (const [place, id] of bundle.products.entries()) {
      if (ids.has(id)) continue;
      const text = `must be the id of a product, but no product has the id ${id}`;
      problems.push({ path: ['bundles', index, 'products', place], text });
    }
    if (Object.values(bundle.prices).every((each) => each.length === 0)) {
      problems.push({ path: ['bundles', index, 'prices'], text: 'must contain a price' });
    }
  }
  problems.push(...findRepeatedPrices({ products, bundles }));
  if (!products.some(({ id }) => id === trial.product)) {
    const text = `must be the id of a product, but no product has the id ${trial.product}`;
    problems.push({ path: ['trial', 'product'], text });
  }
  return problems;
}

function findLinkProblems(
  product: Pick<ProductEntry, 'renew_url' | 'upgrade_url'>,
  index: number,
): CatalogProblem[] {
  return (['renew_url', 'upgrade_url'] as const).flatMap((field) => {
    const link = product[field];
    const text = link === undefined ? null : findLinkProblem(link);
    return text === null ? [] : [{ path: ['products', index, field], text }];
  });
}

/** A price identifies what was bought: one product, or one bundle. */
function findRepeatedPrices({
  products,
  bundles = [],
}: Pick<CatalogFile, 'products' | 'bundles'>): CatalogProblem[] {
  const owners = new Map<string, string>();
  const lists = [
    ...products.map(({ prices = {} }, index) => ({
      list: 'products',
      index,
      field: 'prices',
      prices,
    })),
    ...products.map(({ updates_prices: prices = {} }, index) => ({
      list: 'products',
      index,
      field: 'updates_prices',
      prices,
    })),
    ...bundles.map(({ prices }, index) => ({ list: 'bundles', index, field: 'prices', prices })),
  ];
  return lists.flatMap(({ list, index, field, prices }) =>
    PAYMENT_PROVIDERS.flatMap((provider) =>
      (prices[provider] ?? []).flatMap((priceId): CatalogProblem[] => {
        const key = `${provider} ${priceId}`;
        const owner = owners.get(key);
        if (owner === undefined) owners.set(key, `${list}[${index}]`);
        if (owner === undefined) return [];
        const text = `repeats ${priceId}, a price of ${owner}`;
        return [{ path: [list, index, field, provider], text }];
      }),
    ),
  );
}

type ProductEntry = CatalogFile['products'][number];

function toProduct(entry: ProductEntry): Product {
  const { prices = {}, offline_days: offlineDays = DEFAULT_OFFLINE_DAYS } = entry;
  return {
    id: entry.id,
    name: entry.name,
    productType: entry.product_type ?? entry.id,
    tier: entry.tier,
    features: entry.features ?? [],
    maxActivations: entry.max_activations,
    durationDays: entry.duration_days ?? null,
    ...(entry.quantity === 'keys' ? { quantityAs: 'keys' } : {}),
    ...(entry.keys === 'pool' ? { keysFrom: 'pool' } : {}),
    ...toUpdates(entry),
    ...toProductLinks(entry),
    offlineDays,
    airgapDays: entry.airgap_days ?? null,
    moves: {
      extra: entry.moves?.extra ?? DEFAULT_EXTRA_MOVES,
      // The lifetime of the longest token, so that deactivated machines with a valid token are counted.
      days: entry.moves?.days ?? Math.max(DEFAULT_MOVE_DAYS, offlineDays),
    },
    compatible: toCompatible(entry.compatible ?? {}),
    prices: forEachProvider((provider) => prices[provider] ?? []),
  };
}

function toCompatible(entry: NonNullable<ProductEntry['compatible']>): CatalogCompatible {
  const { lemonsqueezy, gumroad = null, show_customer: showsCustomer = false } = entry;
  if (lemonsqueezy === undefined) return { lemonSqueezy: null, gumroad, showsCustomer };
  const { store_id: storeId, product_id: productId, variant_id: variantId } = lemonsqueezy;
  return { lemonSqueezy: { storeId, productId, variantId }, gumroad, showsCustomer };
}

function toUpdates({
  updates_days: updatesDays,
  updates_prices: prices,
}: CatalogFile['products'][number]): Pick<Product, 'updatesDays' | 'updatesPrices'> {
  return {
    ...(updatesDays === undefined ? {} : { updatesDays }),
    ...(prices === undefined
      ? {}
      : { updatesPrices: forEachProvider((provider) => prices[provider] ?? []) }),
  };
}

function toProductLinks({
  renew_url: renewUrl,
  upgrade_url: upgradeUrl,
}: ProductEntry): Pick<Product, 'renewUrl' | 'upgradeUrl'> {
  return {
    ...(renewUrl === undefined ? {} : { renewUrl }),
    ...(upgradeUrl === undefined ? {} : { upgradeUrl }),
  };
}

function toBuyers({ portals = {} }: NonNullable<CatalogFile['buyers']>): CatalogBuyers {
  return { portals: forEachProvider((provider) => portals[provider] ?? null) };
}

type OutreachEntry = NonNullable<CatalogFile['outreach']>;

function toOutreach(entry: OutreachEntry, trialProductName: string): CatalogOutreach {
  const { about = {}, highlights = {} } = entry;
  return {
    productName: entry.product_name ?? trialProductName,
    sender: entry.sender ?? null,
    postalAddress: entry.postal_address ?? null,
    website: entry.website ?? null,
    links: toLinks(entry.links ?? {}),
    about: forEachLanguage((language) => about[language] ?? null),
    version: entry.version ?? null,
    highlights: forEachLanguage((language) => highlights[language] ?? []),
  };
}

function toLinks(links: NonNullable<OutreachEntry['links']>): CatalogOutreach['links'] {
  return {
    download: links.download ?? null,
    sellers: links.sellers ?? null,
    tutorials: links.tutorials ?? null,
    news: links.news ?? null,
  };
}

function indexPrices(
  products: ReadonlyMap<string, Product>,
  bundles: readonly Bundle[],
): Pick<Catalog, 'findPrice' | 'findUpdatesPrice' | 'listBundled'> {
  const byPrice = new Map<string, readonly string[]>();
  const sold = [
    ...[...products.values()].map(({ id, prices }) => ({ productIds: [id], prices })),
    ...bundles,
  ];
  for (const { productIds, prices } of sold) {
    for (const provider of PAYMENT_PROVIDERS) {
      for (const priceId of prices[provider]) byPrice.set(`${provider} ${priceId}`, productIds);
    }
  }
  const updates = new Map<string, Product>();
  for (const product of products.values()) {
    for (const provider of PAYMENT_PROVIDERS) {
      for (const priceId of product.updatesPrices?.[provider] ?? [])
        updates.set(`${provider} ${priceId}`, product);
    }
  }
  const listProducts = (source: PaymentSource, priceId: string): readonly string[] =>
    byPrice.get(`${providerOf(source)} ${priceId}`) ?? [];
  return {
    findPrice: (source, priceId) => products.get(listProducts(source, priceId)[0] ?? '') ?? null,
    findUpdatesPrice: (source, priceId) => updates.get(`${providerOf(source)} ${priceId}`) ?? null,
    listBundled: (source, priceId) => {
      const ids = listProducts(source, priceId);
      return ids.length > 1 ? ids : [];
    },
  };
}
