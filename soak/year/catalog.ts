import { PLANS, PRODUCTS, TERM_DAYS, type Plan, type ProviderName } from './happenings.ts';
import { nameOf } from './writers/delivery.ts';
import { nameProduct as nameCreem } from './writers/creem.ts';
import { nameProduct as nameDodo } from './writers/dodo.ts';
import { nameProduct as nameFastSpring } from './writers/fastspring.ts';
import { nameProduct as nameGumroad } from './writers/gumroad.ts';
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
  gumroad: nameGumroad,
  standard: nameOf.price,
};

function writeProduct(id: (typeof PRODUCTS)[number]): string {
  const plans = Object.values(PLANS).filter(
    ({ product, name }) => product === id && name !== 'upkeep',
  );
  return `  - id: ${id}
    name: ${id}
    product_type: ${id}
    tier: ${id}
    features: ${id === 'studio' ? '[layers]' : '[]'}
    max_activations: 2
    prices:
${writePrices(plans)}
${OPTIONS[id]}`;
}

const OPTIONS: Readonly<Record<(typeof PRODUCTS)[number], string>> = {
  personal: '',
  pro: '',
  team: '',
  seat: '    quantity: keys\n',
  desk: `    duration_days: ${TERM_DAYS}\n`,
  studio: `    duration_days: ${TERM_DAYS}\n`,
  tool: `    updates_days: ${TERM_DAYS}
    updates_prices:
${writePrices([PLANS.upkeep])}
`,
};

function writePrices(plans: readonly Plan[]): string {
  return Object.entries(PRICES)
    .map(([provider, name]) => `      ${provider}: ${JSON.stringify(plans.map(name))}`)
    .join('\n');
}

function writeVariant({ number, cycle }: Plan): string {
  return cycle === null ? `once:${number}` : String(number);
}

/** The catalogue of the simulated shop, which lacks the price of one plan. */
export const CATALOG = `key_prefix: YR
trial: { product: personal, features: [] }
products:
${PRODUCTS.map(writeProduct).join('')}`;
