import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { messageOf } from '#server/lib/error-message.ts';
import { PRICE_PROVIDERS, type Catalog, type Product } from './catalog-model.ts';
import { describeProblem, type CatalogProblem } from './catalog-problems.ts';
import { readProducts } from './catalog-products.ts';
import { openCatalogSource } from './catalog-source.ts';
import { readTopLevel } from './catalog-top-level.ts';
import { StartupError } from './startup-error.ts';

export { PRICE_PROVIDERS };
export type {
  Catalog,
  CatalogOutreach,
  CatalogTrial,
  PriceProvider,
  Product,
} from './catalog-model.ts';

const MAX_CATALOG_BYTES = 1024 * 1024;

/**
 * Reads the catalogue.
 * @throws StartupError naming every problem at once, each with its line and field
 */
export function loadCatalog(path: string): Catalog {
  return parseCatalog(readCatalogFile(path), basename(path));
}

/**
 * Reads a catalogue's text.
 * @param fileName what the problems are said to be in
 * @throws StartupError naming every problem at once, each with its line and field
 */
export function parseCatalog(text: string, fileName: string): Catalog {
  const problems: CatalogProblem[] = [];
  const source = openCatalogSource(text, problems);
  const products = readProducts(source.root, problems);
  const topLevel = readTopLevel(source.root, products, problems);
  if (problems.length > 0) {
    const located = problems.map(({ path, text: what, line = source.findLine(path) }) => ({
      line,
      sentence: describeProblem(path, what, `${fileName}:${line}`),
    }));
    const sorted = located.sort((a, b) => a.line - b.line);
    throw new StartupError(sorted.map(({ sentence }) => sentence));
  }
  const byId = new Map(products.map((product) => [product.id, product]));
  return { ...topLevel, products: byId, findPrice: indexPrices(products) };
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

function indexPrices(products: readonly Product[]): Catalog['findPrice'] {
  const byPrice = new Map<string, Product>();
  for (const product of products) {
    for (const provider of PRICE_PROVIDERS) {
      for (const priceId of product.prices[provider])
        byPrice.set(`${provider} ${priceId}`, product);
    }
  }
  return (provider, priceId) => byPrice.get(`${provider} ${priceId}`) ?? null;
}
