import { forEachLanguage, forEachProvider } from '@latchkey/contract';
import { Type, type Static, type TProperties, type TSchema } from 'typebox';

import { KEY_PREFIX_PATTERN } from '#server/lib/license-key.ts';

/*
 * The schema of `catalog.yaml`. The description of a field completes the sentence "<field> must be …".
 */

const id = text(
  /^[a-z0-9][a-z0-9_-]{0,63}$/u,
  'a text of 1 to 64 small letters, digits, hyphens and underscores',
);
const label = text(/^[\w.:-]{1,64}$/u, 'a text of 1 to 64 letters, digits and _ . : -');
const name = text(/^(?=.*\S)[^\p{Cc}\p{Cs}]{1,200}$/u, 'a text of 1 to 200 characters');
const webUrl = text(
  /^https?:\/\/[^\s/?#]+(?:[/?#]\S*)?$/u,
  'an address that starts with https:// or http://',
);
const priceId = text(
  /^[\x21-\x7e]{1,200}$/u,
  "a payment provider's price id, in quotes when it is a number",
);
const features = list(label, 100);
const prices = Type.Optional(list(priceId, 100));
const portal = Type.Optional(webUrl);

const ProviderPrices = mapping(forEachProvider(() => prices));

const MAX_BUNDLED = 20;

const foreignId = integer(1, 2_147_483_647);

/** The license interfaces of other systems that old versions of the software know. */
const CompatibleSchema = mapping({
  lemonsqueezy: Type.Optional(
    mapping({ store_id: foreignId, product_id: foreignId, variant_id: foreignId }),
  ),
  gumroad: Type.Optional(mapping({ products: list(priceId, 100) })),
  show_customer: Type.Optional(Type.Boolean({ description: 'true or false' })),
});

const ProductSchema = mapping({
  id,
  name,
  product_type: Type.Optional(label),
  tier: label,
  features: Type.Optional(features),
  max_activations: integer(1, 1_000_000),
  duration_days: Type.Optional(integer(1, 36_500)),
  updates_days: Type.Optional(integer(1, 36_500)),
  quantity: Type.Optional(choice('machines', 'keys')),
  keys: Type.Optional(choice('generated', 'pool')),
  offline_days: Type.Optional(integer(1, 365)),
  airgap_days: Type.Optional(integer(1, 3_650)),
  moves: Type.Optional(
    mapping({
      extra: Type.Optional(integer(0, 1_000_000)),
      days: Type.Optional(integer(1, 365)),
    }),
  ),
  compatible: Type.Optional(CompatibleSchema),
  prices: Type.Optional(ProviderPrices),
  updates_prices: Type.Optional(ProviderPrices),
  renew_url: Type.Optional(webUrl),
  upgrade_url: Type.Optional(webUrl),
});

/** Products that are sold together, under prices of their own. */
const BundleSchema = mapping({
  products: Type.Array(id, {
    minItems: 2,
    maxItems: MAX_BUNDLED,
    uniqueItems: true,
    description: `a list of 2 to ${MAX_BUNDLED} ids of products`,
  }),
  prices: ProviderPrices,
});

/** The pages where buyers manage card and invoices, by payment provider. */
const BuyersSchema = mapping({
  portals: Type.Optional(mapping(forEachProvider(() => portal))),
});

const OutreachSchema = mapping({
  product_name: Type.Optional(name),
  sender: Type.Optional(name),
  postal_address: Type.Optional(name),
  website: Type.Optional(webUrl),
  links: Type.Optional(
    mapping({
      download: Type.Optional(webUrl),
      sellers: Type.Optional(webUrl),
      tutorials: Type.Optional(webUrl),
      news: Type.Optional(webUrl),
    }),
  ),
  about: byLanguage(name),
  version: Type.Optional(name),
  highlights: byLanguage(list(name, 8)),
});

export const CatalogSchema = mapping({
  key_prefix: text(KEY_PREFIX_PATTERN, 'a text of 1 to 8 letters and digits'),
  trial: mapping({ product: id, features: Type.Optional(features) }),
  products: Type.Array(ProductSchema, {
    minItems: 1,
    maxItems: 1_000,
    description: 'a list of 1 to 1000 products',
  }),
  bundles: Type.Optional(
    Type.Array(BundleSchema, { maxItems: 1_000, description: 'a list of at most 1000 bundles' }),
  ),
  outreach: Type.Optional(OutreachSchema),
  buyers: Type.Optional(BuyersSchema),
});

/** The content of `catalog.yaml`, without defaults. */
export type CatalogFile = Static<typeof CatalogSchema>;

function text(pattern: RegExp, description: string) {
  return Type.String({ pattern, description });
}

function integer(minimum: number, maximum: number) {
  const description = `a whole number from ${minimum} to ${maximum}`;
  return Type.Integer({ minimum, maximum, description });
}

function choice<Value extends string>(...values: readonly Value[]) {
  return Type.Enum([...values], { description: values.join(' or ') });
}

function list<Item extends TSchema>(item: Item, maxItems: number) {
  const description = `a list of at most ${maxItems} texts`;
  return Type.Array(item, { maxItems, uniqueItems: true, description });
}

/** An unknown field is a problem: it would be a setting without effect. */
function mapping<Fields extends TProperties>(fields: Fields) {
  const description = `a mapping with the fields ${Object.keys(fields).join(', ')}`;
  return Type.Object(fields, { additionalProperties: false, description });
}

function byLanguage<Field extends TSchema>(field: Field) {
  const optional = Type.Optional(field);
  return Type.Optional(mapping(forEachLanguage(() => optional)));
}
