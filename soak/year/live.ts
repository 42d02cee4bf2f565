import type { Buyer, Plan } from './happenings.ts';
import { PLANS, PROVIDERS } from './happenings.ts';
import { MARKETS, type Market } from './money.ts';
import { OneTime } from './one-time.ts';
import type { Life } from './person.ts';
import { RATES, SHARES } from './rates.ts';
import { Renewer } from './renewer.ts';
import { Subscriber } from './subscriber.ts';

/** Draws the life of a buyer: what it does during the year, by the published rates. @param random numbers from 0 to 1 */
export function live(number: number, random: () => number): Life {
  const provider = PROVIDERS[Math.floor(random() * PROVIDERS.length)] ?? 'paddle';
  const plan = drawPlan(random);
  const market = drawMarket(random);
  const isGift = isGiven(plan, provider) && random() < RATES.gift;
  const buyer: Buyer = {
    number,
    provider,
    email: `buyer.${number}@example.com`,
    // Gumroad reports dollars, whatever the buyer paid, and no tax.
    market:
      provider === 'gumroad'
        ? { ...MARKETS.america, country: market.country, taxPercent: 0 }
        : market,
    giftTo: isGift ? `friend.${number}@example.com` : null,
  };
  if (plan.cycle !== null) return new Subscriber(buyer, random).live(plan);
  if (plan === PLANS.desk || plan === PLANS.tool) return new Renewer(buyer, random).live(plan);
  return new OneTime(buyer, random).live(random() < RATES.unknownPrice ? PLANS.unknown : plan);
}

function drawPlan(random: () => number): Plan {
  let left = random();
  for (const name of ['once', 'seat', 'desk', 'tool', 'year'] as const) {
    left -= SHARES[name];
    if (left < 0) return PLANS[name];
  }
  return PLANS.month;
}

function drawMarket(random: () => number): Market {
  const luck = random();
  if (luck < SHARES.japan) return MARKETS.japan;
  return luck < SHARES.japan + SHARES.america ? MARKETS.america : MARKETS.austria;
}

/** Who renews a license is its owner, and a membership of Gumroad cannot be given. */
function isGiven(plan: Plan, provider: Buyer['provider']): boolean {
  if (plan === PLANS.desk || plan === PLANS.tool) return false;
  return plan.cycle === null || provider !== 'gumroad';
}
