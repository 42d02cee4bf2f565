import {
  addCycle,
  PLANS,
  toDay,
  type AnyHappening,
  type Buyer,
} from '../../soak/year/happenings.ts';
import { MARKETS, taxOf, toPrice } from '../../soak/year/money.ts';
import type { WrittenEvent } from '../../soak/year/writers/delivery.ts';
import { writePaddle } from '../../soak/year/writers/paddle.ts';
import { writeStripe } from '../../soak/year/writers/stripe.ts';

/** What happens to each buyer, in this order. */
export const STEPS = ['purchase', 'first renewal', 'second renewal', 'plan change'] as const;

export type Step = (typeof STEPS)[number];

/** The first payment is so many days ago: everything that follows is in the past. */
const DAYS_AGO = 120;

/** Writes the events of a buyer with a monthly subscription at one of the providers, for each step. */
export function writeSubscription(
  number: number,
  provider: 'paddle' | 'stripe',
): ReadonlyMap<Step, readonly WrittenEvent[]> {
  const email = `buyer-${number}@example.com`;
  const buyer: Buyer = { number, provider, email, market: MARKET, giftTo: null };
  const write = provider === 'paddle' ? writePaddle : writeStripe;
  return new Map(
    [...listHappenings(buyer)].map(([step, happenings]) => [
      step,
      happenings.flatMap(write).map((event) => ({ ...event, provider })),
    ]),
  );
}

function listHappenings(buyer: Buyer): ReadonlyMap<Step, readonly AnyHappening[]> {
  const start = toDay(new Date()) - DAYS_AGO;
  const first = addCycle(start, 'month');
  const second = addCycle(first, 'month');
  const end = addCycle(second, 'month');
  return new Map<Step, readonly AnyHappening[]>([
    ['purchase', pay(buyer, 1, start, first)],
    ['first renewal', pay(buyer, 2, first, second)],
    ['second renewal', pay(buyer, 3, second, end)],
    ['plan change', change(buyer, 4, second, end)],
  ]);
}

const PLAN = PLANS.month;
const MARKET = MARKETS.austria;

function toAmount(cents: number) {
  const amount = toPrice(MARKET, cents);
  return { amount, tax: taxOf(MARKET, amount) };
}

function pay(buyer: Buyer, number: number, from: number, until: number): readonly AnyHappening[] {
  const period = { buyer, plan: PLAN, from, until };
  const isFirst = number === 1;
  const origin = isFirst ? 'purchase' : 'renewal';
  return [
    { ...period, kind: 'state', day: from, status: 'active', isFirst },
    { ...period, kind: 'paid', day: from, number, origin, ...toAmount(PLAN.amount) },
  ];
}

/** Changes the plan in the middle of a period. */
function change(buyer: Buyer, number: number, from: number, until: number): AnyHappening[] {
  const day = from + 10;
  const plan = PLANS.team;
  const amount = toAmount(plan.amount - PLAN.amount);
  const credit = { plan: PLAN, until };
  return [
    { buyer, plan, kind: 'state', day, status: 'active', isFirst: false, from, until },
    {
      buyer,
      plan,
      kind: 'paid',
      day,
      number,
      origin: 'change',
      ...amount,
      from: day,
      until,
      credit,
    },
  ];
}
