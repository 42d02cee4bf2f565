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

const createActors = (): Readonly<Record<Activity, Actor>> => ({
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
  // One program of the vendor sends them.
  outreach: inSequence(sendOutreach),
  list: openList,
  report: openReport,
});

/** Creates an actor that does one request after the other: each is due when the one before it has ended. */
function inSequence(actor: Actor): Actor {
  let last: Promise<unknown> = Promise.resolve();
  let endedAt = 0;
  return (context, number, dueAt) => {
    const done = last
      .then(() => actor(context, number, Math.max(dueAt, endedAt)))
      .finally(() => (endedAt = performance.now()));
    last = done.catch(() => undefined);
    return done;
  };
}

/** The rare ones first. */
const BY_FREQUENCY = ACTIVITIES.toReversed();

const TICK_MS = 10;

/** Planned work that is not finished, most of it waiting for its next attempt; more work begins later. Bounds memory. */
const MAX_UNFINISHED = 4_000;

/** After the day, while the last faults are caused. */
const LATE_PER_SECOND = 40;

/** How long requests that are late or repeated may continue after the day. */
const END_MS = 60_000;

/** The position of a run in its day, in minutes. */
export function minuteAt(startedAt: number, durationMs: number, now: number): number {
  return Math.min(MINUTES_OF_A_DAY, ((now - startedAt) / durationMs) * MINUTES_OF_A_DAY);
}

interface LoadOptions {
  /** `performance.now()` */
  readonly startedAt: number;
  readonly durationMs: number;
  /** Ends the day early. */
  readonly stop: AbortSignal;
  /** Whether faults are being caused or still follow. */
  readonly hasFaults: () => boolean;
}

/**
 * Runs the load of a day: every planned request begins when it is due, whether or not others were answered. If the faults take longer
 * than the day, validations and heartbeats follow until their end, so that each fault meets a load.
 * @returns the number of planned requests that were not sent, because too many others were unfinished
 */
export async function runLoad(
  context: LoadContext,
  plan: DayPlan,
  options: LoadOptions,
): Promise<number> {
  const load = new Load(context, plan, options);
  await load.runDay();
  await load.continue();
  await load.finish();
  return load.unsent;
}

class Load {
  readonly #context: LoadContext;
  readonly #plan: DayPlan;
  readonly #options: LoadOptions;
  readonly #actors = createActors();
  readonly #begun = mapActivities(() => 0);
  readonly #unfinished = new Set<Promise<void>>();

  constructor(context: LoadContext, plan: DayPlan, options: LoadOptions) {
    this.#context = context;
    this.#plan = plan;
    this.#options = options;
  }

  get unsent(): number {
    return ACTIVITIES.reduce(
      (left, activity) => left + Math.max(0, this.#plan[activity].total - this.#begun[activity]),
      0,
    );
  }

  /** Begins every planned request when it is due. */
  async runDay(): Promise<void> {
    const { durationMs, startedAt, stop } = this.#options;
    const deadline = startedAt + durationMs + END_MS;
    while (this.unsent > 0 && !stop.aborted && performance.now() < deadline) {
      this.#beginDue(minuteAt(startedAt, durationMs, performance.now()));
      await sleep(TICK_MS);
    }
  }

  /** Begins one request of each kind in turn, so that none has to wait for another kind while a peak is worked off. */
  #beginDue(minute: number): void {
    const due = mapActivities((activity) => countDue(this.#plan, activity, minute));
    for (;;) {
      const late = BY_FREQUENCY.filter((activity) => this.#begun[activity] < due[activity]);
      if (late.length === 0) return;
      for (const activity of late) {
        if (!this.#canBegin) return;
        this.#beginPlanned(activity);
      }
    }
  }

  /** Sends validations and heartbeats until the faults are over. */
  async continue(): Promise<void> {
    const { hasFaults, stop } = this.#options;
    const from = performance.now();
    for (let sent = 0; hasFaults() && !stop.aborted; await sleep(TICK_MS)) {
      const due = ((performance.now() - from) / 1_000) * LATE_PER_SECOND;
      for (; sent < due && this.#canBegin; sent += 1) {
        this.#begin(sent % 2 === 0 ? 'reconnect' : 'heartbeat', performance.now());
      }
    }
  }

  /** Waits until every request was answered, and ends those that are still repeated after a minute. */
  async finish(): Promise<void> {
    const { client } = this.#context;
    const deadline = performance.now() + END_MS;
    while (this.#unfinished.size > 0 && !this.#options.stop.aborted && performance.now() < deadline)
      await sleep(TICK_MS);
    client.isEnding = true;
    await Promise.all(this.#unfinished);
    client.closeFree();
  }

  get #canBegin(): boolean {
    return this.#unfinished.size < MAX_UNFINISHED;
  }

  #beginPlanned(activity: Activity): void {
    const { durationMs, startedAt } = this.#options;
    const minute = findDueMinute(this.#plan, activity, this.#begun[activity]);
    this.#begin(activity, startedAt + (minute / MINUTES_OF_A_DAY) * durationMs);
  }

  #begin(activity: Activity, dueAt: number): void {
    const { violations } = this.#context;
    const number = this.#begun[activity]++;
    const act = this.#actors[activity];
    const work = act(this.#context, number, dueAt)
      .catch((error: unknown) => {
        violations.add(`an answer to ${activity} could not be read: ${messageOf(error)}`);
      })
      .finally(() => this.#unfinished.delete(work));
    this.#unfinished.add(work);
  }
}
