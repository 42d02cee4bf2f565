import { PAYMENT_PROVIDERS, type PaymentProvider } from '@latchkey/contract';

import type { Catalog, Product } from './catalog-model.ts';
import { describeId, isPriceId, PROVIDER_SETTINGS } from './payment-providers.ts';

/** Finds the prices whose ids do not have the form of their provider; each warning is a sentence. */
export function findPriceWarnings({ products }: Catalog): string[] {
  return [...products.values()].flatMap((product) => [
    ...PAYMENT_PROVIDERS.flatMap((provider) =>
      product.prices[provider]
        .filter((priceId) => !isPriceId(provider, priceId))
        .map((priceId) => describeWrong(product.id, provider, priceId)),
    ),
    ...findRecurringVariants(product).map((priceId) => describeRecurring(product.id, priceId)),
  ]);
}

/** Variants of subscriptions in a product with a term, which are probably one-time purchases. */
function findRecurringVariants({ durationDays, prices }: Product): readonly string[] {
  return durationDays === null ? [] : prices.lemonsqueezy.filter((id) => /^\d+$/u.test(id));
}

function describeWrong(productId: string, provider: PaymentProvider, priceId: string): string {
  const kind = describeId(priceId, provider);
  const found = kind === null ? 'is no price' : `is ${kind}`;
  const { wanted } = PROVIDER_SETTINGS[provider].prices;
  return `The product ${productId} has the ${provider} price ${priceId}, which ${found}: ${wanted}.`;
}

function describeRecurring(productId: string, priceId: string): string {
  return `The product ${productId} has duration_days and the lemonsqueezy price ${priceId}, which is that of a subscription: write once:${priceId} for a one-time purchase.`;
}
