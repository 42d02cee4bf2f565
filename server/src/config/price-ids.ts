import { PAYMENT_PROVIDERS, type PaymentProvider } from '@latchkey/contract';

import type { Catalog, Product } from './catalog-model.ts';
import { describeId, isPriceId, PROVIDER_SETTINGS } from './payment-providers.ts';

/** Finds the prices whose ids do not have the form of their provider; each warning is a sentence. */
export function findPriceWarnings({ products, bundles }: Catalog): string[] {
  const sold = [
    ...[...products.values()].map((each) => ({ ...each, name: `The product ${each.id}` })),
    ...[...products.values()].flatMap(({ id, updatesPrices: prices }) =>
      prices === undefined ? [] : [{ name: `The product ${id}`, prices, durationDays: null }],
    ),
    ...bundles.map(({ productIds, prices }) => ({
      name: `The bundle of ${productIds.join(', ')}`,
      prices,
      durationDays: products.get(productIds[0] ?? '')?.durationDays ?? null,
    })),
  ];
  return sold.flatMap((each) => [
    ...PAYMENT_PROVIDERS.flatMap((provider) =>
      each.prices[provider]
        .filter((priceId) => !isPriceId(provider, priceId))
        .map((priceId) => describeWrong(each.name, provider, priceId)),
    ),
    ...findRecurringVariants(each).map((priceId) => describeRecurring(each.name, priceId)),
  ]);
}

/** Variants of subscriptions in a product with a term, which are probably one-time purchases. */
function findRecurringVariants({
  durationDays,
  prices,
}: Pick<Product, 'durationDays' | 'prices'>): readonly string[] {
  return durationDays === null ? [] : prices.lemonsqueezy.filter((id) => /^\d+$/u.test(id));
}

/** @param name such as `The product personal` */
function describeWrong(name: string, provider: PaymentProvider, priceId: string): string {
  const kind = describeId(priceId, provider);
  const found = kind === null ? 'is no price' : `is ${kind}`;
  const { wanted } = PROVIDER_SETTINGS[provider].prices;
  return `${name} has the ${provider} price ${priceId}, which ${found}: ${wanted}.`;
}

function describeRecurring(name: string, priceId: string): string {
  return `${name} has duration_days and the lemonsqueezy price ${priceId}, which is that of a subscription: write once:${priceId} for a one-time purchase.`;
}
