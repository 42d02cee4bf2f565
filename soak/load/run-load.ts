import { setTimeout as sleep } from 'node:timers/promises';

import { messageOf } from '#server/lib/unknown-values.ts';

import {
  ACTIVITIES,
  countDue,
  findDueMinute,
  mapActivities,
  MINUTES_OF_A_DAY,
  type Activity,
  type DayPlan,
} from '../plan/day-plan.ts';
import type { Actor, LoadContext } from './actors/actor.ts';
import { openList, openReport } from './actors/console-pages.ts';
import { sendEvents } from './actors/events.ts';
import { sendHeartbeat } from './actors/heartbeats.ts';
import { sendOutreach, subscribe } from './actors/mails.ts';
import { buy } from './actors/purchases.ts';
import { startTrial } from './actors/trials.ts';
import { validateFor } from './actors/validations.ts';

const ACTORS: Readonly<Record<Activity, Actor>> = {
  startup: validateFor('startup'),
  scheduled: validateFor('scheduled'),
  foreground: validateFor('foreground'),
  wake: validateFor('wake'),
  reconnect: validateFor('reconnect'),
  manual: validateFor('manual'),
  heartbeat: sendHeartbeat,
  events: sendEvents,
  trial: startTrial,
  purchase: buy,
  subscription: subscribe,
  outreach: sendOutreach,
  list: openList,
  report: openReport,
};

const TICK_MS = 10;

/** Planned work that is not finished, most of it waiting for its next attempt; more work begins later. Bounds memory. */
const MAX_UNFINISHED = 4_000;

/** How long requests that are late or repeated may continue after the day. */
const END_MS = 60_000;

/** The position of a run in its day, in minutes. */
export function minuteAt(startedAt: number, durationMs: number, now: number): number {
  return Math.min(MINUTES_OF_A_DAY, ((now - startedAt) / durationMs) * MINUTES_OF_A_DAY);
}

interface LoadTimes {
  /** `performance.now()` */
  readonly startedAt: number;
  readonly durationMs: number;
  /** Ends the day early. */
  readonly stop: AbortSignal;
}

/**
 * Runs the load of a day: every planned request begins when it is due, whether or not others were answered.
 * @returns the number of planned requests that were not sent, because too many others were unfinished
 */
export async function runLoad(
  context: LoadContext,
  plan: DayPlan,
  { durationMs, startedAt, stop }: LoadTimes,
): Promise<number> {
  const begun = mapActivities(() => 0);
  const unfinished = new Set<Promise<void>>();
  const begin = (activity: Activity): void => {
    const number = begun[activity]++;
    const minute = findDueMinute(plan, activity, number);
    const dueAt = startedAt + (minute / MINUTES_OF_A_DAY) * durationMs;
    const work = ACTORS[activity](context, number, dueAt)
      .catch((error: unknown) => {
        context.violations.add(`an answer to ${activity} could not be read: ${messageOf(error)}`);
      })
      .finally(() => unfinished.delete(work));
    unfinished.add(work);
  };
  const countLeft = (): number =>
    ACTIVITIES.reduce((left, activity) => left + plan[activity].total - begun[activity], 0);
  const deadline = startedAt + durationMs + END_MS;
  while (countLeft() > 0 && !stop.aborted && performance.now() < deadline) {
    const minute = minuteAt(startedAt, durationMs, performance.now());
    for (const activity of ACTIVITIES) {
      const due = countDue(plan, activity, minute);
      while (begun[activity] < due && unfinished.size < MAX_UNFINISHED) begin(activity);
    }
    await sleep(TICK_MS);
  }
  while (unfinished.size > 0 && !stop.aborted && performance.now() < deadline) await sleep(TICK_MS);
  context.client.isEnding = true;
  await Promise.all(unfinished);
  context.client.closeFree();
  return countLeft();
}
