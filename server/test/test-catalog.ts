import { parseCatalog, type Catalog } from '#server/config/catalog.ts';

/** `personal` and the trial are as in the catalogue that ships, so that acceptance tests hold for that one too. */
const CATALOG = `
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
    prices: { paddle: [pri_01aaaaaaaaaaaaaaaaaaaaaaaa], stripe: [price_personal] }
  - id: yearly
    name: Yearly
    product_type: yearly-plan
    tier: pro
    features: [history]
    max_activations: 3
    duration_days: 365
    offline_days: 30
    prices: { paddle: [pri_01cccccccccccccccccccccccc] }
  - id: sellers
    name: Sellers
    product_type: sellers
    tier: sellers
    features: [history, gpu, fleet, alerts]
    max_activations: 10
    offline_days: 30
    prices: { paddle: [pri_01bbbbbbbbbbbbbbbbbbbbbbbb], stripe: [price_sellers] }
`;

/** The catalogue of the tests, or another text's. */
export function testCatalog(text: string = CATALOG): Catalog {
  return parseCatalog(text, 'test-catalog.yaml');
}
