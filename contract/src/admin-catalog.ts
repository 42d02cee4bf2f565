import { type Static, Type } from 'typebox';

import { operation } from './operation.ts';
import { PAYMENT_PROVIDERS } from './payment-providers.ts';
import { nullable, nullableString, oneOf, ref } from './schema.ts';

const CatalogPrice = Type.Object({
  provider: oneOf(PAYMENT_PROVIDERS),
  price_id: Type.String({ examples: ['pri_01aaaaaaaaaaaaaaaaaaaaaaaa'] }),
});

const CatalogProductView = Type.Object(
  {
    id: Type.String({ examples: ['personal'] }),
    name: Type.String({ examples: ['Personal'] }),
    product_type: Type.String({ examples: ['personal'] }),
    tier: Type.String({ examples: ['personal'] }),
    features: Type.Array(Type.String({ examples: ['history'] })),
    max_activations: Type.Integer({ examples: [2] }),
    duration_days: nullable(
      Type.Unsafe<number>({
        type: 'integer',
        description: 'Null: perpetual, or as long as its subscription is paid.',
        examples: [365],
      }),
    ),
    updates_days: nullable(
      Type.Unsafe<number>({
        type: 'integer',
        description: 'Days of updates from a payment. Null: all updates.',
        examples: [365],
      }),
    ),
    keys: oneOf(['generated', 'pool'], {
      description: 'Whether the keys of licenses are generated, or taken from a pool.',
    }),
    quantity: oneOf(['machines', 'keys'], {
      description: 'Whether a quantity multiplies the machines of a license, or the licenses.',
    }),
    offline_days: Type.Integer({ examples: [14] }),
    airgap_days: nullable(
      Type.Unsafe<number>({
        type: 'integer',
        description:
          'How long an entitlement for a machine without a connection is valid; null: not offered.',
        examples: [90],
      }),
    ),
    moves: Type.Object({
      extra: Type.Integer({ examples: [3] }),
      days: Type.Integer({ examples: [30] }),
    }),
    prices: Type.Array(CatalogPrice),
    updates_prices: Type.Array(CatalogPrice, {
      description: 'The prices that renew the updates of a license of this product.',
    }),
    is_trial: Type.Boolean({ description: 'Whether trials are of this product.' }),
  },
  { $id: 'CatalogProductView' },
);
export type CatalogProductView = Static<typeof CatalogProductView>;

const CatalogProblem = Type.Object({
  line: nullable(Type.Unsafe<number>({ type: 'integer', examples: [12] })),
  path: nullableString({ description: 'The field.', examples: ['products[0].tier'] }),
  message: Type.String({ examples: ['products[0].tier must be a text'] }),
});

const PriceProviderView = Type.Object({
  provider: oneOf(PAYMENT_PROVIDERS),
  prices: Type.Integer({ description: 'How many prices of it the catalogue has.', examples: [2] }),
  is_configured: Type.Boolean({ description: 'Whether a secret for its webhooks is set.' }),
  setting: Type.String({
    description: 'The variable of this secret.',
    examples: ['LATCHKEY_STRIPE_SECRETS'],
  }),
});

const MailView = Type.Object({
  is_configured: Type.Boolean(),
  from: nullableString({ examples: ['Example <keys@example.com>'] }),
  relay: nullableString({
    description: 'Without user and password.',
    examples: ['smtps://smtp.example.com:465'],
  }),
  dkim_domain: nullableString({ examples: ['example.com'] }),
  dkim_selector: nullableString({ examples: ['latchkey'] }),
  double_opt_in: Type.Boolean(),
});

const OutreachView = Type.Object({
  product_name: Type.String({ examples: ['Example Studio'] }),
  sender: nullableString({ examples: ['Robin at Example Studio'] }),
  postal_address: nullableString({ examples: ['1 Example Street, Exampletown'] }),
  website: nullableString({ examples: ['https://example.com'] }),
  version: nullableString({ examples: ['2.4'] }),
  languages: Type.Array(Type.String({ examples: ['en'] }), {
    description: 'The languages in which the software is described.',
  }),
});

const CatalogView = Type.Object(
  {
    file: Type.String({ examples: ['/etc/latchkey/catalog.yaml'] }),
    is_outdated: Type.Boolean({
      description: 'Whether the file is valid and has changed since the service read it.',
    }),
    problems: Type.Array(CatalogProblem, {
      description: 'The problems of the file; while it has any, the catalogue read before is used.',
    }),
    key_prefix: Type.String({ examples: ['LK'] }),
    trial_product_id: Type.String({ examples: ['personal'] }),
    trial_features: Type.Array(Type.String({ examples: ['history'] })),
    products: Type.Array(ref(CatalogProductView)),
    providers: Type.Array(PriceProviderView),
    mail: MailView,
    outreach: OutreachView,
  },
  { $id: 'CatalogView', description: 'The catalogue in use.' },
);
export type CatalogView = Static<typeof CatalogView>;

export const showCatalog = operation({
  id: 'showCatalog',
  method: 'GET',
  path: 'catalog',
  summary: 'Show the catalogue in use, and the problems of its file',
  permission: 'catalog:read',
  response: ref(CatalogView, 'The catalogue.'),
});
