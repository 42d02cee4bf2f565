import type { Context } from '#server/context.ts';

import { recordTimeBasedEvents } from './record-time-based-events.ts';
import { attemptDelivery, claimDueDeliveries, type DeliveryContext } from './deliver.ts';
import type { ClaimedDelivery } from './queries/deliveries.ts';
import { removeOldMessages } from './remove-old-messages.ts';

/** Outgoing webhooks as a process runs them. */
interface RunningWebhooks {
  /** Takes no more deliveries and waits some seconds for those under way; what is not over then is made again later. */
  stop(): Promise<void>;
}

interface WebhookRunOptions {
  /** How often it is looked for deliveries that are due. */
  readonly pollIntervalMs?: number;
}

/**
 * Deliveries under way to one endpoint by one process. An endpoint that does not answer fills its own places, and no
 * other's.
 */
const MAX_PER_ENDPOINT = 16;

const POLL_INTERVAL_MS = 1_000;
const STOP_PATIENCE_MS = 5_000;
const SWEEP_INTERVAL_MS = 60_000;
const CLEAN_UP_INTERVAL_MS = 60 * 60_000;

/**
 * Makes the deliveries that are due, tells what became of licenses by time, and clears the log, until it is stopped;
 * beside other processes that do the same. A database that is away is asked again.
 */
export function startOutgoingWebhooks(
  ctx: Context & DeliveryContext,
  options: WebhookRunOptions = {},
): RunningWebhooks {
  const loop = new DeliveryLoop(ctx, options.pollIntervalMs ?? POLL_INTERVAL_MS);
  loop.wait();
  return { stop: () => loop.stop() };
}

class DeliveryLoop {
  readonly #ctx: Context & DeliveryContext;
  readonly #pollIntervalMs: number;
  readonly #busy = new Map<string, number>();
  readonly #underWay = new Set<Promise<void>>();
  readonly #upkeep: readonly Upkeep[];
  #timer: NodeJS.Timeout | undefined;
  #ticking: Promise<void> | null = null;
  #stopping = false;
  #away = false;

  constructor(ctx: Context & DeliveryContext, pollIntervalMs: number) {
    this.#ctx = ctx;
    this.#pollIntervalMs = pollIntervalMs;
    this.#upkeep = [
      {
        work: () => recordTimeBasedEvents(ctx),
        everyMs: SWEEP_INTERVAL_MS,
        failure: 'licenses whose term ended cannot be told of; they are at the next try',
        nextAt: 0,
      },
      {
        work: () => removeOldMessages(ctx),
        everyMs: CLEAN_UP_INTERVAL_MS,
        failure: 'the log of webhooks could not be cleared of old messages',
        nextAt: 0,
      },
    ];
  }

  /** Also before the first time: the start of the service comes first. */
  wait(): void {
    this.#timer = setTimeout(() => this.tick(), this.#pollIntervalMs);
  }

  /** Looks now, unless it is looking already, and again after the interval. */
  tick(): void {
    if (this.#stopping || this.#ticking !== null) return;
    clearTimeout(this.#timer);
    this.#ticking = this.#keepUp()
      .then(() => this.#look())
      .finally(() => {
        this.#ticking = null;
        if (!this.#stopping) this.wait();
      });
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    clearTimeout(this.#timer);
    await this.#ticking;
    const patience = Promise.withResolvers<void>();
    const timer = setTimeout(patience.resolve, STOP_PATIENCE_MS);
    await Promise.race([Promise.all(this.#underWay), patience.promise]);
    clearTimeout(timer);
  }

  /** Never throws, so that whatever is wrong here keeps nobody from being told. */
  async #keepUp(): Promise<void> {
    const now = performance.now();
    for (const upkeep of this.#upkeep.filter(({ nextAt }) => nextAt <= now)) {
      upkeep.nextAt = now + upkeep.everyMs;
      try {
        await upkeep.work();
      } catch (error) {
        this.#ctx.log.warn({ err: error }, upkeep.failure);
      }
    }
  }

  /** Never throws: what is amiss with the database is said once, and so is its end. */
  async #look(): Promise<void> {
    try {
      const claimed = await claimDueDeliveries(this.#ctx, MAX_PER_ENDPOINT, this.#busy);
      for (const delivery of claimed) this.#begin(delivery);
      if (this.#away) this.#ctx.log.info('webhooks can be delivered again');
      this.#away = false;
    } catch (error) {
      if (!this.#away) this.#ctx.log.warn({ err: error }, 'webhooks cannot be delivered');
      this.#away = true;
    }
  }

  #begin(delivery: ClaimedDelivery): void {
    const { endpointId } = delivery;
    this.#busy.set(endpointId, (this.#busy.get(endpointId) ?? 0) + 1);
    const attempt = this.#attempt(delivery).finally(() => {
      const left = (this.#busy.get(endpointId) ?? 1) - 1;
      if (left === 0) this.#busy.delete(endpointId);
      else this.#busy.set(endpointId, left);
      this.#underWay.delete(attempt);
      // More may be due than there were places for. Half of them free: fewer questions to the database than one each.
      if (!this.#away && left === MAX_PER_ENDPOINT / 2) this.tick();
    });
    this.#underWay.add(attempt);
  }

  async #attempt(delivery: ClaimedDelivery): Promise<void> {
    try {
      await attemptDelivery(this.#ctx, delivery);
    } catch (error) {
      const { messageId, endpointId } = delivery;
      const about = { err: error, messageId, endpointId };
      this.#ctx.log.warn(about, 'what came of a webhook could not be stored; it is sent again');
    }
  }
}

interface Upkeep {
  readonly work: () => Promise<unknown>;
  readonly everyMs: number;
  readonly failure: string;
  nextAt: number;
}
