/** The plan of a simulated day: how many requests of each kind are due at each of its minutes. Pure. */
import { VALIDATION_TRIGGERS } from '@latchkey/contract';

import { distribute, peak } from './distribute.ts';

export const MINUTES_OF_A_DAY = 1_440;

/** What is planned: a validation for each trigger of the interface, and the other kinds of requests. */
export const ACTIVITIES = [
  ...VALIDATION_TRIGGERS,
  'heartbeat',
  'events',
  'trial',
  'purchase',
  'subscription',
  'outreach',
  'list',
  'report',
] as const;
export type Activity = (typeof ACTIVITIES)[number];

/** The requests of one kind. */
interface ActivityPlan {
  readonly total: number;
  /** The requests due before each minute; one element more than minutes. */
  readonly dueBefore: Uint32Array;
}

export type DayPlan = Readonly<Record<Activity, ActivityPlan>>;

/** The number of requests of a kind on a day of so many machines, and how they are distributed. */
interface Rule {
  readonly perMachine?: number;
  /** Requests that do not depend on the number of machines, in each minute of the run: operators work at their own pace. */
  readonly perRealMinute?: number;
  readonly weigh: (minute: number) => number;
}

const at = (hour: number): number => hour * 60;

const evenly = (): number => 1;

/** Computers are switched on before work, after lunch and in the evening, and some at any time. */
const startups = (minute: number): number =>
  0.6 * peak(minute, at(9), 35) +
  0.15 * peak(minute, at(13.5), 30) +
  0.15 * peak(minute, at(20), 50) +
  0.0002;

/** While computers are on. */
const daytime = (minute: number): number => peak(minute, at(14), 200) + 0.0002;

/** A sale ends at eleven: most payments of the day arrive within an hour. */
const sale = (minute: number): number => 0.8 * peak(minute, at(11), 15) + 0.2 / MINUTES_OF_A_DAY;

const RULES: Readonly<Record<Activity, Rule>> = {
  startup: { perMachine: 1, weigh: startups },
  scheduled: { perMachine: 1, weigh: daytime },
  foreground: { perMachine: 0.8, weigh: daytime },
  wake: { perMachine: 0.5, weigh: startups },
  reconnect: { perMachine: 0.3, weigh: evenly },
  manual: { perMachine: 0.05, weigh: daytime },
  heartbeat: { perMachine: 1.2, weigh: startups },
  events: { perMachine: 1, weigh: daytime },
  trial: { perMachine: 0.02, weigh: daytime },
  purchase: { perMachine: 0.03, weigh: sale },
  subscription: { perMachine: 0.005, weigh: daytime },
  outreach: { perRealMinute: 10, weigh: (minute) => peak(minute, at(10), 180) },
  list: { perRealMinute: 120, weigh: daytime },
  report: { perRealMinute: 12, weigh: daytime },
};

/** Plans a day for a number of machines. @param minutes of the run */
export function planDay(machines: number, minutes: number): DayPlan {
  const plan = (activity: Activity): ActivityPlan => {
    const { perMachine = 0, perRealMinute = 0, weigh } = RULES[activity];
    const total = Math.round(machines * perMachine + minutes * perRealMinute);
    const weights = Array.from({ length: MINUTES_OF_A_DAY }, (_, minute) => weigh(minute));
    return { total, dueBefore: cumulate(distribute(total, weights)) };
  };
  return mapActivities(plan);
}

/** Returns the number of planned requests. */
export const countPlanned = (plan: DayPlan): number =>
  ACTIVITIES.reduce((sum, activity) => sum + plan[activity].total, 0);

/** Creates a record with a value for each activity. */
export function mapActivities<Value>(
  create: (activity: Activity) => Value,
): Record<Activity, Value> {
  return {
    startup: create('startup'),
    scheduled: create('scheduled'),
    foreground: create('foreground'),
    wake: create('wake'),
    reconnect: create('reconnect'),
    manual: create('manual'),
    heartbeat: create('heartbeat'),
    events: create('events'),
    trial: create('trial'),
    purchase: create('purchase'),
    subscription: create('subscription'),
    outreach: create('outreach'),
    list: create('list'),
    report: create('report'),
  };
}

function cumulate(counts: Uint32Array): Uint32Array {
  const sums = new Uint32Array(counts.length + 1);
  counts.forEach((count, index) => {
    sums[index + 1] = (sums[index] ?? 0) + count;
  });
  return sums;
}

/**
 * Returns how many requests of a kind are due until a time of the day; those of a minute are spread evenly over it.
 * @param minute of the day, with fractions
 */
export function countDue(plan: DayPlan, activity: Activity, minute: number): number {
  const { dueBefore, total } = plan[activity];
  const begun = Math.floor(minute);
  if (begun < 0) return 0;
  const before = dueBefore[begun] ?? total;
  const after = dueBefore[begun + 1] ?? total;
  return before + Math.floor((after - before) * (minute - begun));
}

/**
 * Returns the minute of the day, with fractions, from which `countDue` counts a request.
 * @param number of the request, from 0
 */
export function findDueMinute(plan: DayPlan, activity: Activity, number: number): number {
  const { dueBefore } = plan[activity];
  let minute = 0;
  let end = MINUTES_OF_A_DAY;
  while (end - minute > 1) {
    const middle = Math.floor((minute + end) / 2);
    if ((dueBefore[middle] ?? 0) <= number) minute = middle;
    else end = middle;
  }
  const before = dueBefore[minute] ?? 0;
  const inMinute = (dueBefore[minute + 1] ?? before) - before;
  return minute + (number + 1 - before) / inMinute;
}
