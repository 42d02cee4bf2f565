import type { Catalog, PriceProvider } from './catalog-model.ts';

/** What an id is that begins like this. */
const PREFIXES: readonly (readonly [string, string])[] = [
  ['pri_', 'a price of Paddle'],
  ['pro_', 'a product of Paddle'],
  ['txn_', 'a transaction of Paddle'],
  ['ctm_', 'a customer of Paddle'],
  ['price_', 'a price of Stripe'],
  ['plan_', 'a plan of Stripe'],
  ['prod_', 'a product of Stripe'],
  ['plink_', 'a payment link of Stripe'],
  ['cs_', 'a checkout session of Stripe'],
  ['si_', 'a subscription item of Stripe'],
  ['in_', 'an invoice of Stripe'],
  ['cus_', 'a customer of Stripe'],
  ['sub_', 'a subscription'],
];

interface PriceForm {
  readonly isPrice: (priceId: string) => boolean;
  readonly wanted: string;
}

const isStripeId = (priceId: string): boolean =>
  /^(?:price|plan)_/u.test(priceId) || PREFIXES.every(([prefix]) => !priceId.startsWith(prefix));

/** Own shops choose their ids. Stripe's plans from before 2018 may have any. */
const FORMS: Readonly<Record<PriceProvider, PriceForm>> = {
  paddle: {
    isPrice: (priceId) => priceId.startsWith('pri_'),
    wanted: "a price's id begins with pri_",
  },
  stripe: { isPrice: isStripeId, wanted: "a price's id begins with price_ or plan_" },
  lemonsqueezy: {
    isPrice: (priceId) => /^(?:once:)?\d+$/u.test(priceId),
    wanted: 'it is the number of a variant, with once: before it for a one-time purchase',
  },
  standard: { isPrice: () => true, wanted: '' },
};

/** Finds the prices whose ids do not have the form of their provider; each warning is a sentence. */
export function findPriceWarnings({ products }: Catalog): string[] {
  return [...products.values()].flatMap(({ id, prices, durationDays }) =>
    Object.entries(FORMS).flatMap(([provider, { isPrice, wanted }]) => {
      const own = new Map(Object.entries(prices)).get(provider) ?? [];
      const wrong = own
        .filter((priceId) => !isPrice(priceId))
        .map((priceId) => describeWrong(id, provider, priceId, wanted));
      const isTerm = provider === 'lemonsqueezy' && durationDays !== null;
      const recurring = isTerm ? own.filter((priceId) => /^\d+$/u.test(priceId)) : [];
      return [...wrong, ...recurring.map((priceId) => describeRecurring(id, priceId))];
    }),
  );
}

function describeWrong(
  productId: string,
  provider: string,
  priceId: string,
  wanted: string,
): string {
  const kind = PREFIXES.find(([prefix]) => priceId.startsWith(prefix))?.[1];
  const found = kind === undefined ? 'is no price' : `is ${kind}`;
  return `The product ${productId} has the ${provider} price ${priceId}, which ${found}: ${wanted}.`;
}

function describeRecurring(productId: string, priceId: string): string {
  return `The product ${productId} has duration_days and the lemonsqueezy price ${priceId}, which is that of a subscription: write once:${priceId} for a one-time purchase.`;
}
