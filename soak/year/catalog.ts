import { PLANS, type Plan, type ProviderName } from './happenings.ts';
import { nameOf } from './writers/delivery.ts';
import { nameProduct as nameCreem } from './writers/creem.ts';
import { nameProduct as nameDodo } from './writers/dodo.ts';
import { nameProduct as nameFastSpring } from './writers/fastspring.ts';
import { nameProduct as namePolar } from './writers/polar.ts';

/** The names of plans in the catalogue, as each provider has them. */
const PRICES: Readonly<Record<ProviderName, (plan: Plan) => string>> = {
  paddle: nameOf.price,
  stripe: (plan) => nameOf.price(plan).replace('pri_', 'price_'),
  lemonsqueezy: writeVariant,
  polar: namePolar,
  dodo: nameDodo,
  creem: nameCreem,
  fastspring: nameFastSpring,
  standard: nameOf.price,
};

/** The catalogue of the simulated shop, which lacks the price of one plan. */
export const CATALOG = `key_prefix: YR
trial: { product: personal, features: [] }
products:
${['personal', 'pro', 'team'].map(writeProduct).join('')}`;

function writeProduct(id: string): string {
  const plans = Object.values(PLANS).filter(({ product }) => product === id);
  const prices = Object.entries(PRICES).map(
    ([provider, name]) => `      ${provider}: ${JSON.stringify(plans.map(name))}`,
  );
  return `  - id: ${id}
    name: ${id}
    product_type: ${id}
    tier: ${id}
    features: []
    max_activations: 2
    prices:
${prices.join('\n')}
`;
}

function writeVariant({ number, cycle }: Plan): string {
  return cycle === null ? `once:${number}` : String(number);
}
