import { isDeepStrictEqual } from 'node:util';

import { PAYMENT_PROVIDERS, type CatalogView } from '@latchkey/contract';

import { loadCatalog, type Catalog, type Product } from '#server/config/catalog.ts';
import type { Config } from '#server/config/config.ts';
import { PROVIDER_SETTINGS } from '#server/config/payment-providers.ts';
import type { Secrets } from '#server/config/secrets.ts';
import { StartupError } from '#server/config/startup-error.ts';

/** What the service runs with since its start, without secrets that a view needs not. */
export interface CatalogDependencies {
  readonly catalog: () => Catalog;
  readonly config: Pick<Config, 'catalogPath' | 'mail' | 'subscribers'>;
  /** By payment provider; empty: not configured. */
  readonly webhookSecrets: Secrets['webhooks'];
  readonly installation: { readonly smtpUrl: string | null };
}

/** Shows the catalogue in use, and the problems of its file. */
export function viewCatalog(deps: CatalogDependencies): CatalogView {
  const catalog = deps.catalog();
  const products = [...catalog.products.values()];
  return {
    file: deps.config.catalogPath,
    ...checkFile(deps.config.catalogPath, catalog),
    key_prefix: catalog.keyPrefix,
    trial_product_id: catalog.trial.productId,
    trial_features: [...catalog.trial.features],
    products: products.map((product) => viewProduct(product, catalog)),
    providers: PAYMENT_PROVIDERS.map((provider) => ({
      provider,
      prices:
        [...products, ...catalog.bundles].reduce(
          (sum, { prices }) => sum + prices[provider].length,
          0,
        ) +
        products.reduce(
          (sum, { updatesPrices }) => sum + (updatesPrices?.[provider].length ?? 0),
          0,
        ),
      is_configured: deps.webhookSecrets[provider].length > 0,
      setting: PROVIDER_SETTINGS[provider].secretsVariable,
    })),
    mail: viewMail(deps),
    outreach: viewOutreach(catalog),
  };
}

function checkFile(path: string, current: Catalog): Pick<CatalogView, 'is_outdated' | 'problems'> {
  try {
    const read = loadCatalog(path);
    return { is_outdated: !isDeepStrictEqual(contentOf(read), contentOf(current)), problems: [] };
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    return { is_outdated: false, problems: error.problems.map(toProblem) };
  }
}

function contentOf({ keyPrefix, trial, outreach, buyers, bundles, products }: Catalog) {
  return { keyPrefix, trial, outreach, buyers, bundles, products: [...products.values()] };
}

/** Reads a sentence such as `catalog.yaml:12: products[0].tier must be a text`. */
function toProblem(sentence: string): CatalogView['problems'][number] {
  const { line, message = sentence } =
    /^[^:]+:(?<line>\d+): (?<message>.*)$/su.exec(sentence)?.groups ?? {};
  const path =
    /^(?:key_prefix|trial|products|bundles|outreach|buyers)\S*/u.exec(message)?.[0] ?? null;
  return { line: line === undefined ? null : Number(line), path, message };
}

function viewProduct(
  product: Product,
  { trial, bundles }: Catalog,
): CatalogView['products'][number] {
  const bundled = bundles.filter(({ productIds }) => productIds.includes(product.id));
  return {
    id: product.id,
    name: product.name,
    product_type: product.productType,
    tier: product.tier,
    features: [...product.features],
    max_activations: product.maxActivations,
    duration_days: product.durationDays,
    updates_days: product.updatesDays ?? null,
    quantity: product.quantityAs ?? 'machines',
    keys: product.keysFrom ?? 'generated',
    offline_days: product.offlineDays,
    airgap_days: product.airgapDays,
    moves: product.moves,
    prices: listPrices([product, ...bundled].map(({ prices }) => prices)),
    updates_prices: listPrices([product.updatesPrices ?? null]),
    is_trial: product.id === trial.productId,
  };
}

function listPrices(
  all: readonly (Product['prices'] | null)[],
): CatalogView['products'][number]['prices'] {
  return PAYMENT_PROVIDERS.flatMap((provider) =>
    all
      .flatMap((prices) => prices?.[provider] ?? [])
      .map((priceId) => ({ provider, price_id: priceId })),
  );
}

function viewMail({ config, installation: { smtpUrl } }: CatalogDependencies): CatalogView['mail'] {
  const { mail, subscribers } = config;
  return {
    is_configured: smtpUrl !== null,
    from: mail.from,
    relay: smtpUrl === null ? null : withoutPassword(smtpUrl),
    dkim_domain: mail.dkim?.domain ?? null,
    dkim_selector: mail.dkim?.selector ?? null,
    double_opt_in: subscribers.doubleOptIn && smtpUrl !== null,
  };
}

function withoutPassword(url: string): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}

function viewOutreach({ outreach }: Catalog): CatalogView['outreach'] {
  const { productName, sender, postalAddress, website, version, about } = outreach;
  return {
    product_name: productName,
    sender,
    postal_address: postalAddress,
    website,
    version,
    languages: Object.entries(about).flatMap(([language, text]) =>
      text === null ? [] : [language],
    ),
  };
}
