import { PLANS, type Plan } from './happenings.ts';
import { nameOf } from './writers/delivery.ts';
import { VARIANTS } from './writers/lemon-squeezy.ts';

/** The catalogue of the simulated shop, which lacks the price of one plan. */
export const CATALOG = `key_prefix: YR
trial: { product: personal, features: [] }
products:
${['personal', 'pro', 'team'].map(writeProduct).join('')}`;

function writeProduct(id: string): string {
  const plans = Object.values(PLANS).filter(({ product }) => product === id);
  const names = plans.map((plan) => nameOf.price(plan)).join(', ');
  const variants = plans.map((plan) => `'${writeVariant(plan)}'`).join(', ');
  return `  - id: ${id}
    name: ${id}
    product_type: ${id}
    tier: ${id}
    features: []
    max_activations: 2
    prices: { paddle: [${names}], stripe: [${names.replaceAll('pri_', 'price_')}], lemonsqueezy: [${variants}], standard: [${names}] }
`;
}

function writeVariant({ name, cycle }: Plan): string {
  return cycle === null ? `once:${VARIANTS[name]}` : String(VARIANTS[name]);
}
