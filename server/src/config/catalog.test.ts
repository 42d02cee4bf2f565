import { strict as assert } from 'node:assert';
import { mkdtempDisposableSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { forEachProvider } from '@latchkey/contract';
import { TEST_PRICES } from '../../test/test-catalog.ts';
import { loadCatalog, parseCatalog } from './catalog.ts';
import { defaults } from './config.ts';
import { CONFIGURATION_EXIT_CODE, StartupError } from './startup-error.ts';

const smallest = `key_prefix: ab
trial:
  product: one
products:
  - id: one
    name: One
    tier: basic
    max_activations: 3
`;

function problemsOf(text: string): readonly string[] {
  try {
    parseCatalog(text, 'catalog.yaml');
  } catch (error) {
    assert.ok(error instanceof StartupError);
    assert.equal(error.exitCode, CONFIGURATION_EXIT_CODE);
    return error.problems;
  }
  return [];
}

function withLine(line: number, replacement: string): string {
  const lines = smallest.split('\n');
  lines[line - 1] = replacement;
  return lines.join('\n');
}

test('reads the example, which is the default', () => {
  const catalog = loadCatalog(defaults.catalogPath);
  assert.equal(catalog.keyPrefix, 'LK');
  assert.deepEqual(catalog.trial, { productId: 'personal', features: ['history'] });
  assert.deepEqual([...catalog.products.keys()], ['personal', 'sellers']);
  assert.deepEqual(catalog.products.get('personal'), {
    id: 'personal',
    name: 'Personal',
    productType: 'personal',
    tier: 'personal',
    features: ['history', 'gpu'],
    maxActivations: 2,
    durationDays: null,
    offlineDays: 14,
    airgapDays: null,
    compatible: { lemonSqueezy: null, gumroad: null, showsCustomer: false },
    moves: { extra: 3, days: 30 },
    prices: { ...forEachProvider(() => []), paddle: [TEST_PRICES.personal] },
  });
});

test('sets the defaults of omitted fields', () => {
  const catalog = parseCatalog(`${smallest}    features: [a, b]\n`, 'catalog.yaml');
  assert.equal(catalog.keyPrefix, 'AB');
  assert.deepEqual(catalog.trial.features, ['a', 'b']);
  const product = catalog.products.get('one');
  assert.equal(product?.productType, 'one');
  assert.equal(product?.durationDays, null);
  assert.equal(product?.offlineDays, 14);
  assert.deepEqual(product?.prices.paddle, []);
});

test('outreach names the product of trials by default, and every other field is empty', () => {
  const nothing = { en: null, fr: null, de: null };
  assert.deepEqual(parseCatalog(smallest, 'catalog.yaml').outreach, {
    productName: 'One',
    sender: null,
    postalAddress: null,
    website: null,
    links: { download: null, sellers: null, tutorials: null, news: null },
    about: nothing,
    version: null,
    highlights: { en: [], fr: [], de: [] },
  });
  const empty = `${smallest}outreach: { sender: , links: { news: }, about: { en: }, highlights: { fr: } }\n`;
  assert.deepEqual(
    parseCatalog(empty, 'catalog.yaml').outreach,
    parseCatalog(smallest, 'catalog.yaml').outreach,
  );
  const text = `${smallest}outreach:
  product_name: Example Studio
  links: { download: "https://example.com/download" }
  about: { de: Es tut etwas. }
  version: "2.4"
  highlights: { en: [Faster, Smaller] }
`;
  const { outreach } = parseCatalog(text, 'catalog.yaml');
  assert.equal(outreach.productName, 'Example Studio');
  assert.equal(outreach.links.download, 'https://example.com/download');
  assert.deepEqual(outreach.about, { ...nothing, de: 'Es tut etwas.' });
  assert.equal(outreach.version, '2.4');
  assert.deepEqual(outreach.highlights, { en: ['Faster', 'Smaller'], fr: [], de: [] });
});

test('finds a price under its own provider only', () => {
  const text = `${smallest}    prices: {paddle: [pri_1], stripe: ["7"]}\n`;
  const catalog = parseCatalog(text, 'catalog.yaml');
  assert.equal(catalog.findPrice('paddle', 'pri_1')?.id, 'one');
  assert.equal(catalog.findPrice('stripe', '7')?.id, 'one');
  assert.equal(catalog.findPrice('stripe', 'pri_1'), null);
  assert.equal(catalog.findPrice('paddle', 'pri_2'), null);
});

test('a bundle sells its products under its own prices', () => {
  const two = `${smallest}  - {id: two, name: Two, tier: basic, max_activations: 1, quantity: keys}\n`;
  const catalog = parseCatalog(
    `${two}bundles:\n  - {products: [two, one], prices: {stripe: [price_1]}}\n`,
    'catalog.yaml',
  );
  assert.equal(catalog.findPrice('stripe', 'price_1')?.id, 'two');
  assert.deepEqual(catalog.listBundled('stripe', 'price_1'), ['two', 'one']);
  assert.deepEqual(catalog.listBundled('stripe', 'price_2'), []);
  assert.equal(catalog.products.get('two')?.quantityAs, 'keys');
  assert.equal(catalog.products.get('one')?.quantityAs, undefined);
});

const single: readonly [name: string, text: string, problem: string][] = [
  [
    'a number out of bounds',
    withLine(8, '    max_activations: 0'),
    'catalog.yaml:8: products[0].max_activations must be a whole number from 1 to 1000000',
  ],
  [
    'a fraction',
    withLine(8, '    max_activations: 1.5'),
    'catalog.yaml:8: products[0].max_activations must be a whole number from 1 to 1000000',
  ],
  [
    'a required field that is null',
    withLine(7, '    tier:'),
    'catalog.yaml:7: products[0].tier is missing: it must be a text of 1 to 64 letters, digits and _ . : -',
  ],
  [
    'a required field that is absent, with the line of its mapping',
    withLine(6, ''),
    'catalog.yaml:5: products[0].name is missing: it must be a text of 1 to 200 characters',
  ],
  [
    'an unknown field',
    `${smallest}    color: red\n`,
    'catalog.yaml:9: products[0].color is not a field here; known are id, name, product_type, tier, features, max_activations, duration_days, updates_days, quantity, keys, offline_days, airgap_days, moves, compatible, prices, updates_prices, renew_url, upgrade_url',
  ],
  [
    'prices of updates without their days',
    `${smallest}    updates_prices: {standard: [year]}\n`,
    'catalog.yaml:9: products[0].updates_prices needs updates_days, which a payment adds',
  ],
  [
    'a price that sells a license and updates',
    `${smallest}    updates_days: 365\n    prices: {standard: [one]}\n    updates_prices: {standard: [one]}\n`,
    'catalog.yaml:11: products[0].updates_prices.standard repeats one, a price of products[0]',
  ],
  [
    'a link for renewals that names no license',
    `${smallest}    renew_url: https://shop.example.com/renew\n`,
    'catalog.yaml:9: products[0].renew_url must contain {license_id} after the host: it becomes the id of the license, which the purchase has to name',
  ],
  [
    'a link for renewals with the license in its host',
    `${smallest}    renew_url: 'https://{license_id}.example.com/renew'\n`,
    'catalog.yaml:9: products[0].renew_url must contain {license_id} after the host: it becomes the id of the license, which the purchase has to name',
  ],
  [
    'a link for upgrades without encryption',
    `${smallest}    upgrade_url: 'http://shop.example.com/?id={license_id}'\n`,
    'catalog.yaml:9: products[0].upgrade_url must be an address that starts with https://, without a user',
  ],
  [
    'a link that is not a web address',
    `${smallest}outreach:\n  links: {download: "javascript:alert(1)"}\n`,
    'catalog.yaml:10: outreach.links.download must be an address that starts with https:// or http://',
  ],
  [
    'an unknown language',
    `${smallest}outreach: {about: {it: Ciao}}\n`,
    'catalog.yaml:9: outreach.about.it is not a field here; known are en, fr, de',
  ],
  [
    'a version that YAML reads as a number',
    `${smallest}outreach: {version: 2.4}\n`,
    'catalog.yaml:9: outreach.version must be a text of 1 to 200 characters',
  ],
  [
    'a typo',
    `${smallest}    featurs: []\n`,
    'catalog.yaml:9: products[0].featurs is not a field here: features was probably meant',
  ],
  [
    'an invalid prefix of keys',
    withLine(1, 'key_prefix: LATCHKEY-1'),
    'catalog.yaml:1: key_prefix must be a text of 1 to 8 letters and digits',
  ],
  [
    'a trial of an unknown product',
    withLine(3, '  product: two'),
    'catalog.yaml:3: trial.product must be the id of a product, but no product has the id two',
  ],
  [
    'a repeated product id',
    `${smallest}  - {id: one, name: Two, tier: b, max_activations: 1}\n`,
    'catalog.yaml:9: products[1].id repeats one, the id of products[0]',
  ],
  [
    'a price of two products',
    `${smallest}    prices: {paddle: [p]}\n  - {id: two, name: Two, tier: b, max_activations: 1, prices: {paddle: [p]}}\n`,
    'catalog.yaml:10: products[1].prices.paddle repeats p, a price of products[0]',
  ],
  [
    'a repeated price',
    `${smallest}    prices:\n      paddle:\n        - p\n        - p\n`,
    'catalog.yaml:12: products[0].prices.paddle[1] repeats p',
  ],
  [
    'a price that YAML reads as a number',
    `${smallest}    prices: {stripe: [17]}\n`,
    "catalog.yaml:9: products[0].prices.stripe[0] must be a payment provider's price id, in quotes when it is a number",
  ],
  [
    'a text instead of a list',
    `${smallest}    features: gpu\n`,
    'catalog.yaml:9: products[0].features must be a list of at most 100 texts',
  ],
  [
    'no products',
    'key_prefix: LK\ntrial: {product: one, features: []}\nproducts: []\n',
    'catalog.yaml:3: products must be a list of 1 to 1000 products',
  ],
  [
    'an empty file',
    '',
    'catalog.yaml:1: must be a mapping with the fields key_prefix, trial, products, bundles, outreach, buyers',
  ],
  [
    'a list at the top',
    '- x\n',
    'catalog.yaml:1: must be a mapping with the fields key_prefix, trial, products, bundles, outreach, buyers',
  ],
  [
    'a quantity of another kind',
    `${smallest}    quantity: seats\n`,
    'catalog.yaml:9: products[0].quantity must be machines or keys',
  ],
  [
    'a bundle of one product',
    `${smallest}bundles: [{products: [one], prices: {paddle: [pri_1]}}]\n`,
    'catalog.yaml:9: bundles[0].products must be a list of 2 to 20 ids of products',
  ],
  [
    'a bundle of an unknown product',
    `${smallest}bundles: [{products: [one, two], prices: {paddle: [pri_1]}}]\n`,
    'catalog.yaml:9: bundles[0].products[1] must be the id of a product, but no product has the id two',
  ],
  [
    'a bundle without a price',
    `${smallest}bundles: [{products: [one, two], prices: {}}]\n`,
    'catalog.yaml:9: bundles[0].prices must contain a price',
  ],
  [
    'a price of a product that is one of a bundle, too',
    `${smallest}    prices: {paddle: [pri_1]}\n  - {id: two, name: Two, tier: b, max_activations: 1}\nbundles:\n  - {products: [one, two], prices: {paddle: [pri_1]}}\n`,
    'catalog.yaml:12: bundles[0].prices.paddle repeats pri_1, a price of products[0]',
  ],
  [
    'a repeated field',
    `${smallest}key_prefix: XY\n`,
    'catalog.yaml:9: is not YAML: Map keys must be unique',
  ],
];

for (const [name, text, problem] of single) {
  test(`reports ${name}, with line and field`, () => {
    const problems = problemsOf(text);
    assert.ok(problems.includes(problem), problems.join('\n'));
  });
}

test('reports more than eight problems, and unknown fields without a value', () => {
  const fields = Array.from({ length: 20 }, (_, index) => `    field${index}:\n`).join('');
  assert.equal(problemsOf(smallest + fields).length, 20);
});

test('reports all problems of fields, in the order of the lines', () => {
  const text = smallest
    .replace('ab', '""')
    .replace('name: One', 'nam: One')
    .replace('max_activations: 3', 'max_activations: many');
  assert.deepEqual(problemsOf(text), [
    'catalog.yaml:1: key_prefix must be a text of 1 to 8 letters and digits',
    'catalog.yaml:5: products[0].name is missing: it must be a text of 1 to 200 characters',
    'catalog.yaml:6: products[0].nam is not a field here: name was probably meant',
    'catalog.yaml:8: products[0].max_activations must be a whole number from 1 to 1000000',
  ]);
});

/** The period of moves of a product with further fields. */
function readPeriod(fields: string): number | undefined {
  const text = smallest.replace('max_activations: 3', `max_activations: 3\n    ${fields}`);
  return parseCatalog(text, 'catalog.yaml').products.values().next().value?.moves.days;
}

test('the period of moves is as long as offline_days if those are more than 30', () => {
  assert.equal(readPeriod('offline_days: 14'), 30);
  assert.equal(readPeriod('offline_days: 90'), 90);
  assert.equal(readPeriod('offline_days: 90\n    moves: { days: 7 }'), 7);
});

test('rejects an alias bomb', () => {
  let text = 'a: &a0 [x, x, x, x, x, x, x, x, x, x]\n';
  for (let depth = 1; depth < 12; depth += 1) {
    const alias = `*a${depth - 1}`;
    text += `b${depth}: &a${depth} [${Array.from({ length: 10 }, () => alias).join(', ')}]\n`;
  }
  const [problem] = problemsOf(text);
  assert.match(problem ?? '', /^catalog\.yaml:1: cannot be read: Excessive alias count/u);
});

test('reports a file that cannot be read', () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), 'latchkey-catalog-'));
  const missing = join(directory.path, 'none.yaml');
  assert.throws(() => loadCatalog(missing), {
    name: 'StartupError',
    message: new RegExp(
      `^The catalogue ${missing} cannot be read \\(ENOENT.*set LATCHKEY_CATALOG`,
      'u',
    ),
  });
  const large = join(directory.path, 'large.yaml');
  writeFileSync(large, '#'.repeat(1024 * 1024 + 1));
  assert.throws(() => loadCatalog(large), /larger than 1 MiB/u);
});

test('reads the ids under which old programs ask', () => {
  const offer = `{ lemonsqueezy: { store_id: 1, product_id: 2, variant_id: 3 }, gumroad: { products: [studio] } }`;
  const text = `${smallest}    compatible: ${offer}\n`;
  assert.deepEqual(parseCatalog(text, 'catalog.yaml').products.get('one')?.compatible, {
    lemonSqueezy: { storeId: 1, productId: 2, variantId: 3 },
    gumroad: { products: ['studio'] },
    showsCustomer: false,
  });
});

test('the example shows or explains every field of a product', () => {
  const example = readFileSync(defaults.catalogPath, 'utf8');
  for (const field of [
    'key_prefix',
    'trial',
    'product_type',
    'duration_days',
    'offline_days',
    'airgap_days',
    'moves',
    'compatible',
    'renew_url',
    'upgrade_url',
    'portals',
  ]) {
    assert.ok(example.includes(`${field}:`), field);
  }
});
