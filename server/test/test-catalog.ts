import { parseCatalog, type Catalog } from '#server/config/catalog.ts';

/** Paddle's prices of the test products; those of `personal` and `sellers` are also in the example catalogue. */
export const TEST_PRICES = {
  personal: 'pri_01aaaaaaaaaaaaaaaaaaaaaaaa',
  sellers: 'pri_01bbbbbbbbbbbbbbbbbbbbbbbb',
  yearly: 'pri_01cccccccccccccccccccccccc',
} as const;

/** `personal` and the trial equal the example catalogue, so that acceptance tests apply to that one too. */
export const CATALOG = `
key_prefix: LK
trial: { product: personal, features: [history] }
products:
  - id: personal
    name: Personal
    product_type: personal
    tier: personal
    features: [history, gpu]
    max_activations: 2
    offline_days: 14
    prices: { paddle: [${TEST_PRICES.personal}], stripe: [price_personal] }
  - id: yearly
    name: Yearly
    product_type: yearly-plan
    tier: pro
    features: [history]
    max_activations: 3
    duration_days: 365
    offline_days: 30
    prices: { paddle: [${TEST_PRICES.yearly}] }
  - id: sellers
    name: Sellers
    product_type: sellers
    tier: sellers
    features: [history, gpu, fleet, alerts]
    max_activations: 10
    offline_days: 30
    prices: { paddle: [${TEST_PRICES.sellers}], stripe: [price_sellers] }
`;

/** Returns the catalogue of the tests, or parses another text. */
export function testCatalog(text: string = CATALOG): Catalog {
  return parseCatalog(text, 'test-catalog.yaml');
}
