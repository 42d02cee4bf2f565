import type { Catalog, Product, CatalogTrial } from './catalog-model.ts';
import { openFields, readText, readTexts } from './catalog-fields.ts';
import { readOutreach } from './catalog-outreach.ts';
import type { CatalogProblem } from './catalog-problems.ts';
import { FEATURES, ID_RULE, LABEL_RULE, PREFIX_RULE } from './catalog-rules.ts';

const TOP_LEVEL_FIELDS = ['key_prefix', 'trial', 'products', 'outreach'];

/** Reads `key_prefix`, `trial` and `outreach`, and adds problems. */
export function readTopLevel(
  root: unknown,
  products: readonly Product[],
  problems: CatalogProblem[],
): Pick<Catalog, 'keyPrefix' | 'trial' | 'outreach'> {
  // Text that is no YAML was reported already, and nothing more can be said about it.
  const own = root === undefined ? [] : problems;
  const fields = openFields(root, [], TOP_LEVEL_FIELDS, own);
  const trial = readTrial(fields.values.get('trial'), products, fields.problems);
  const trialProduct = products.find(({ id }) => id === trial.productId);
  return {
    keyPrefix: readText(fields, 'key_prefix', PREFIX_RULE).toUpperCase(),
    trial,
    outreach: readOutreach(fields.values.get('outreach'), trialProduct, fields.problems),
  };
}

/** Without features of its own a trial unlocks those of its product. */
function readTrial(
  value: unknown,
  products: readonly Product[],
  problems: CatalogProblem[],
): CatalogTrial {
  const fields = openFields(value, ['trial'], ['product', 'features'], problems);
  const productId = readText(fields, 'product', ID_RULE);
  const product = products.find(({ id }) => id === productId);
  if (productId !== '' && product === undefined) {
    const text = `must be the id of a product, and there is none called ${productId}`;
    problems.push({ path: ['trial', 'product'], text });
  }
  const byDefault = product?.features ?? [];
  return {
    productId,
    features: readTexts(fields, 'features', LABEL_RULE, { ...FEATURES, byDefault }),
  };
}
