/** Decides what happened in the demo's past, without a database: who tried, bought, renewed and left, and when. */
import {
  startOfPeriod,
  type MoneyBack,
  type Plan,
  type Sale,
  type ShopProvider,
  type SubscriptionChange,
} from '../payments/sale.ts';
import type { Random } from '../random.ts';
import { DAY_MS, HOUR_MS, isWeekend, startOfDay } from '../time.ts';
import { createMachine, type Machine } from './machines.ts';
import { createPerson, type Person } from './people.ts';
import { PLANS } from './plans.ts';

/** A machine, and when it had the license. */
export interface MachineUse {
  readonly machine: Machine;
  readonly fromMs: number;
  /** The last use; now or later: still in use. */
  readonly untilMs: number;
  /** Whether the owner freed it then. */
  readonly isFreed: boolean;
}

export interface PlannedTrial {
  readonly atMs: number;
  readonly use: MachineUse;
  readonly isConverted: boolean;
}

export interface PlannedSale {
  readonly sale: Sale;
  readonly person: Person;
  readonly uses: readonly MachineUse[];
  /** The number of renewals until now. */
  readonly renewals: number;
  readonly changes: readonly SubscriptionChange[];
  readonly moneyBack: MoneyBack | null;
}

/** A license that an operator issued. */
export interface PlannedIssue {
  readonly atMs: number;
  readonly product: 'home' | 'studio' | 'team';
  readonly reason: string;
  readonly note: string | null;
  /** Null: perpetual. */
  readonly days: number | null;
  readonly person: Person;
  readonly uses: readonly MachineUse[];
}

export interface Plans {
  readonly trials: readonly PlannedTrial[];
  readonly sales: readonly PlannedSale[];
  readonly issues: readonly PlannedIssue[];
}

const TRIAL_WINDOW_DAYS = 120;
const TRIAL_DAYS = 7;

/** How long the vendor has been selling. */
export const HISTORY_DAYS = 540;

/** Plans the given number of licenses, trials included. */
export function planLicenses(random: Random, licenses: number, nowMs: number): Plans {
  const trialCount = Math.round(licenses * 0.36);
  const issueCount = Math.max(6, Math.round(licenses * 0.05));
  const trials: PlannedTrial[] = [];
  const sales: PlannedSale[] = [];
  for (let number = 0; number < trialCount; number += 1) {
    const own = random.fork(`trial ${number}`);
    const converted = planTrial(own, number, nowMs);
    trials.push(converted.trial);
    if (converted.sale !== null) sales.push(converted.sale);
  }
  const rare = planRareCases(random.fork('rare cases'), nowMs);
  const saleCount = licenses - trialCount - issueCount - rare.length;
  for (let number = sales.length; number < saleCount; number += 1) {
    const own = random.fork(`sale ${number}`);
    const plan = pickPlan(own);
    // Monthly subscriptions are younger: those that began long ago have mostly ended.
    const days = plan.cycle === 'month' ? 300 : HISTORY_DAYS;
    const at = pickTime(own, days, nowMs);
    sales.push(planSale(own, number, { plan, at, person: null, firstMachine: null }, nowMs));
  }
  const issues = Array.from({ length: issueCount }, (_, number) =>
    planIssue(random.fork(`issue ${number}`), number, nowMs),
  );
  return { trials, sales: [...sales, ...rare], issues };
}

function planTrial(random: Random, number: number, nowMs: number) {
  const atMs = pickTime(random, TRIAL_WINDOW_DAYS, nowMs);
  const machine = createMachine(random);
  const boughtAt = atMs + random.exponential(4) * DAY_MS + HOUR_MS;
  const isConverted =
    random.chance(0.21) && boughtAt < Math.min(nowMs - HOUR_MS, atMs + 13 * DAY_MS);
  const untilMs = isConverted ? boughtAt : atMs + random.exponential(5) * DAY_MS;
  const use = { machine, fromMs: atMs, untilMs: Math.min(untilMs, endOfTrial(atMs)) };
  const trial = { atMs, use: { ...use, isFreed: false }, isConverted };
  if (!isConverted) return { trial, sale: null };
  const plan = random.weighted<Plan>([
    [PLANS.home, 40],
    [PLANS.studioMonth, 42],
    [PLANS.studioYear, 18],
  ]);
  const order = { plan, at: boughtAt, person: null, firstMachine: machine };
  return { trial, sale: planSale(random, 1_000_000 + number, order, nowMs) };
}

function endOfTrial(atMs: number): number {
  return atMs + TRIAL_DAYS * DAY_MS;
}

function pickPlan(random: Random): Plan {
  return random.weighted<Plan>([
    [PLANS.home, 50],
    [PLANS.studioMonth, 27],
    [PLANS.studioYear, 17],
    [PLANS.teamYear, 6],
  ]);
}

/** States that few licenses have, so that even a small demo has each. */
function planRareCases(random: Random, nowMs: number): PlannedSale[] {
  const create = (number: number, daysAgo: number): PlannedSale => {
    const own = random.fork(String(number));
    const at = nowMs - daysAgo * DAY_MS;
    const order = { plan: PLANS.studioMonth, at, person: null, firstMachine: createMachine(own) };
    const { person, sale, uses } = planSale(own, 50_000 + number, order, nowMs);
    const short = uses.map((use) => ({ ...use, untilMs: nowMs, isFreed: false }));
    return { person, sale, uses: short, renewals: 0, changes: [], moneyBack: null };
  };
  const ago = (days: number): Date => new Date(nowMs - days * DAY_MS);
  return [
    { ...create(1, 12), changes: [{ kind: 'cancel_scheduled', at: ago(2.3), period: 0 }] },
    { ...create(2, 34), changes: [{ kind: 'past_due', at: ago(4), period: 0 }] },
    { ...create(3, 20), changes: [{ kind: 'paused', at: ago(6.1), period: 0 }] },
    { ...create(4, 28), changes: [{ kind: 'canceled', at: ago(5.2), period: 0 }] },
    { ...create(5, 15), moneyBack: { kind: 'refund', at: ago(9) } },
    { ...create(6, 18), moneyBack: { kind: 'dispute', at: ago(7.5) } },
    // Before the e-mail with the key: it is withheld.
    { ...create(7, 8), uses: [], moneyBack: { kind: 'refund', at: ago(8 - 1e-5) } },
  ];
}

interface Order {
  readonly plan: Plan;
  readonly at: number;
  readonly person: Person | null;
  /** The machine of a trial that led to the purchase. */
  readonly firstMachine: Machine | null;
}

function planSale(random: Random, number: number, order: Order, nowMs: number): PlannedSale {
  const person = order.person ?? createPerson(random, number % 1_000_000);
  const isTeam = order.plan.product === 'team';
  const sale: Sale = {
    provider: random.weighted<ShopProvider>([
      ['paddle', 46],
      ['stripe', 30],
      ['lemonsqueezy', 14],
      ['standard', 10],
    ]),
    plan: order.plan,
    quantity: isTeam ? random.integer(3, 14) : 1,
    at: new Date(order.at),
    buyer: { name: person.name, email: person.email, locale: person.locale },
    token: random.symbols(24),
    number: number >= 1_000_000 ? 70_000 + (number % 1_000_000) : number,
  };
  const course = sale.plan.cycle === null ? keep() : planSubscription(random, sale, nowMs);
  const moneyBack = planMoneyBack(random, sale, nowMs);
  const endMs = Math.min(course.endMs, moneyBack === null ? Infinity : moneyBack.at.getTime());
  const uses = planUses(random, sale, order.firstMachine, endMs, nowMs);
  return { sale, person, uses, ...course, moneyBack };
}

interface Course {
  readonly renewals: number;
  readonly changes: readonly SubscriptionChange[];
  readonly endMs: number;
}

function keep(): Course {
  return { renewals: 0, changes: [], endMs: Infinity };
}

/** Renews until the customer leaves: cancels, pauses or does not pay any more. */
function planSubscription(random: Random, sale: Sale, nowMs: number): Course {
  const isYear = sale.plan.cycle === 'year';
  const leavesAt = sale.at.getTime() + random.exponential(isYear ? 900 : 330) * DAY_MS + HOUR_MS;
  let period = 0;
  while (startOfPeriod(sale, period + 1).getTime() < Math.min(leavesAt, nowMs)) period += 1;
  if (leavesAt > nowMs) return { renewals: period, changes: [], endMs: Infinity };
  const endMs = startOfPeriod(sale, period + 1).getTime();
  const change = (kind: SubscriptionChange['kind'], atMs: number): SubscriptionChange[] =>
    atMs < nowMs ? [{ kind, at: new Date(atMs), period }] : [];
  const changes = random.weighted([
    [() => [...change('cancel_scheduled', leavesAt), ...change('canceled', endMs + HOUR_MS)], 60],
    [() => [...change('past_due', endMs), ...change('canceled', endMs + 16 * DAY_MS)], 26],
    [() => change('paused', leavesAt), 14],
  ])();
  return { renewals: period, changes, endMs };
}

function planMoneyBack(random: Random, { at }: Sale, nowMs: number): MoneyBack | null {
  const kind = random.weighted<MoneyBack['kind'] | null>([
    [null, 952],
    ['refund', 30],
    ['dispute', 8],
    ['partial_refund', 10],
  ]);
  const time = new Date(at.getTime() + (0.2 + random.exponential(4)) * DAY_MS);
  return kind === null || time.getTime() > nowMs ? null : { kind, at: time };
}

function planUses(
  random: Random,
  { at, plan, quantity }: Sale,
  firstMachine: Machine | null,
  endMs: number,
  nowMs: number,
): MachineUse[] {
  // Some buyers never activate, and are worth an e-mail.
  if (firstMachine === null && random.chance(0.05)) return [];
  const most = plan.product === 'team' ? quantity : plan.product === 'home' ? 2 : 3;
  const usual = plan.product === 'team' ? Math.ceil(quantity * 0.8) : 1;
  const isFull = random.chance(0.18);
  const count = isFull ? most : Math.min(most, usual + (random.chance(0.3) ? 1 : 0));
  // Others stop using it without a word.
  const silentMs = random.chance(0.14) ? at.getTime() + random.exponential(80) * DAY_MS : Infinity;
  return Array.from({ length: count }, (_, index): MachineUse => {
    const delay = index === 0 ? random.exponential(0.2) : random.exponential(18);
    const fromMs = at.getTime() + delay * DAY_MS + 5 * 60_000;
    const freedMs = random.chance(0.05) ? fromMs + random.exponential(60) * DAY_MS : Infinity;
    // Used at least once, also when the customer stopped using the others before.
    const untilMs = Math.max(fromMs, Math.min(endMs, silentMs, freedMs));
    const machine = index === 0 && firstMachine !== null ? firstMachine : createMachine(random);
    return { machine, fromMs, untilMs, isFreed: freedMs === untilMs && freedMs < nowMs };
  }).filter(({ fromMs }) => fromMs < Math.min(endMs, nowMs - 60_000));
}

const REASONS = [
  { reason: 'Press copy', note: 'Review in Print Monthly', days: 365 },
  { reason: 'Education discount, paid by invoice', note: null, days: 365 },
  { reason: 'Speaker at the user meeting', note: null, days: null },
  { reason: 'Replaces a license of version 2', note: 'Bought in 2019 in the old shop', days: null },
  { reason: 'Evaluation for a reseller', note: null, days: 30 },
  { reason: 'Paid by invoice', note: 'Wants to pay by bank transfer', days: 365 },
] as const;

function planIssue(random: Random, number: number, nowMs: number): PlannedIssue {
  const atMs = pickTime(random, HISTORY_DAYS, nowMs);
  const { reason, note, days } = random.pick(REASONS);
  const endMs = days === null ? Infinity : atMs + days * DAY_MS;
  const use: MachineUse = {
    machine: createMachine(random),
    fromMs: atMs + random.exponential(2) * DAY_MS,
    untilMs: endMs,
    isFreed: false,
  };
  const product = random.pick(['home', 'studio', 'studio', 'team'] as const);
  const uses = random.chance(0.8) && use.fromMs < Math.min(nowMs - 60_000, endMs) ? [use] : [];
  const person = createPerson(random, 60_000 + number);
  return { atMs, product, reason, note, days, person, uses };
}

/** Picks a time in the last days: more of them lately, on working days and in the afternoon. */
function pickTime(random: Random, days: number, nowMs: number): number {
  for (;;) {
    const dayMs = startOfDay(nowMs - random.next() ** 1.5 * days * DAY_MS);
    if (isWeekend(dayMs) && random.chance(0.45)) continue;
    const hour = (random.next() + random.next() + random.next()) * 8;
    const atMs = dayMs + hour * HOUR_MS;
    if (atMs < nowMs - 10 * 60_000) return Math.floor(atMs);
  }
}
