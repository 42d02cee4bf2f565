import { setTimeout as sleep } from 'node:timers/promises';

import type {
  AgentHello,
  AgentHost,
  AgentSnapshot,
  AgentSnapshotMessage,
  AgentSubprotocol,
} from '@latchkey/contract';

import type { Clock } from '../clock.ts';
import type { PartName } from '../collector.ts';
import { toOtlpRequest } from '../formats/otlp.ts';
import { toVectorEvents } from '../formats/vector.ts';
import type { Sampler } from '../sample.ts';
import { version } from '../version.ts';
import { BRIEF, BRIEF_PARTS, BriefFeed, toBriefHello } from './brief.ts';
import { encodeFrames } from './frames.ts';
import { History, HISTORY_PARTS } from './history.ts';

/** A connected viewer. */
export interface Viewer extends Buffered {
  readonly subprotocol: AgentSubprotocol;
  /** Sends messages, or drops the viewer when too much is unread. @param frames from `encodeFrames` */
  send(frames: Buffer): void;
  /**
   * Sends a ping, or drops the viewer when it did not answer the last one.
   * @param data echoed in the answer
   */
  ping(data: Buffer): void;
}

/** Dependencies of the hub. */
interface HubOptions {
  readonly sampler: Pick<Sampler, 'sample' | 'wake'>;
  /** Called at first, and again after the wall clock was set, which changes the boot time. */
  readonly readHost: () => AgentHost;
  readonly clock: Clock;
  readonly intervalSeconds: number;
  /** Identifies the machine; default: unknown. */
  readonly machineId?: string | null;
  /** The limit of unread bytes of all viewers. */
  readonly maxBufferedBytes?: number;
}

/** Time for reads in the background, after collectors were woken for a scrape. */
const SETTLE_MS = 500;

/** With a longer interval, a scrape gets a snapshot of its own: scrapers wait ten seconds by default. */
const MAX_WAIT_SECONDS = 2;

/** Programs that report GPUs keep running this long after a scrape, because they need seconds to start. */
const KEEP_GPUS_MS = 150_000;

const GPUS: ReadonlySet<PartName> = new Set<PartName>(['gpus']);

/** A snapshot with all parts. */
export interface TakenSnapshot {
  readonly snapshot: AgentSnapshot;
  readonly host: AgentHost;
}

/** A larger difference means that the wall clock was set, as on machines without a hardware clock after boot. */
const CLOCK_STEP_MS = 1000;

/** Takes a snapshot at each tick and sends it to all viewers, encoded once for each subprotocol. */
export class Hub {
  readonly #options: HubOptions;
  readonly #history = new History();
  readonly #viewers = new Set<Viewer>();
  readonly #brief = new BriefFeed();
  readonly #startedAt: string;
  /** The first messages, encoded once between two ticks. */
  readonly #hellos = new Map<AgentSubprotocol, Buffer>();
  /** Who waits for the next snapshot with all parts. */
  #waiting: ((taken: TakenSnapshot) => void)[] = [];
  #scrapedAtMs = Number.NEGATIVE_INFINITY;
  #wholeAtMs = Number.NEGATIVE_INFINITY;
  #host: AgentHost;
  #clockAheadMs: number;

  constructor(options: HubOptions) {
    this.#options = options;
    this.#host = options.readHost();
    this.#clockAheadMs = measureAhead(options.clock);
    this.#startedAt = options.clock.now().toISOString();
  }

  get viewers(): ReadonlySet<Viewer> {
    return this.#viewers;
  }

  /** Adds a viewer, sends the hello, and sends every snapshot from the next tick. */
  add(viewer: Viewer): void {
    const before = this.#chooseParts();
    this.#viewers.add(viewer);
    if (viewer.subprotocol === BRIEF) this.#brief.add(viewer);
    if (before !== undefined && viewer.subprotocol !== BRIEF) this.#wakeCollectors(before);
    const greeting = this.#greet(viewer.subprotocol);
    if (greeting.length > 0) viewer.send(greeting);
    dropSlowest(this.#viewers, this.#options.maxBufferedBytes);
  }

  remove(viewer: Viewer): void {
    this.#viewers.delete(viewer);
    this.#brief.remove(viewer);
  }

  /** Waits for the next snapshot, with all parts: for a scrape. It is the one that viewers get. */
  async takeSnapshot(): Promise<TakenSnapshot> {
    const active = this.#chooseParts();
    this.#scrapedAtMs = this.#options.clock.monotonicMs();
    if (active !== undefined) {
      this.#wakeCollectors(active);
      await sleep(SETTLE_MS);
    }
    const { promise, resolve } = Promise.withResolvers<TakenSnapshot>();
    this.#waiting.push(resolve);
    if (this.#options.intervalSeconds > MAX_WAIT_SECONDS) this.tick();
    return promise;
  }

  /** Takes a snapshot. Only the parts that viewers need are collected; without viewers, those of the history. */
  tick(): void {
    this.#detectClockStep();
    const snapshot = this.#sample();
    const point = this.#history.add(snapshot);
    this.#hellos.clear();
    this.#brief.tick(point, snapshot, this.#options.clock.monotonicMs());
    const encoded = new Map<AgentSubprotocol, Buffer>();
    for (const viewer of this.#viewers) {
      if (viewer.subprotocol === BRIEF) continue;
      let frames = encoded.get(viewer.subprotocol);
      if (frames === undefined) {
        frames = encodeSnapshot(viewer.subprotocol, snapshot, this.#host);
        encoded.set(viewer.subprotocol, frames);
      }
      viewer.send(frames);
    }
    this.#answerWaiting(snapshot);
    dropSlowest(this.#viewers, this.#options.maxBufferedBytes);
  }

  /**
   * Pings all viewers.
   * @param data random, so that no viewer can answer in advance
   */
  ping(data: Buffer): void {
    for (const viewer of this.#viewers) viewer.ping(data);
  }

  /** Returns the first message of a subprotocol; empty where there is none. */
  #greet(subprotocol: AgentSubprotocol): Buffer {
    let frames = this.#hellos.get(subprotocol);
    if (frames === undefined) {
      const hello = this.#createHello(subprotocol);
      frames = encodeFrames(hello === null ? [] : [hello]);
      this.#hellos.set(subprotocol, frames);
    }
    return frames;
  }

  #createHello(subprotocol: AgentSubprotocol): object | null {
    const { intervalSeconds, machineId = null } = this.#options;
    const facts = { agent_version: version, interval_seconds: intervalSeconds, host: this.#host };
    const { points: history } = this.#history;
    if (subprotocol === 'latchkey.snapshot.v1') {
      return { type: 'hello', schema_version: 1, ...facts, history } satisfies AgentHello;
    }
    if (subprotocol !== BRIEF) return null;
    const id = machineId === null ? {} : { machine_id: machineId };
    const own = { ...facts, ...id, agent_started_at: this.#startedAt };
    return toBriefHello({ ...own, ...this.#brief.notices }, history);
  }

  #detectClockStep(): void {
    const aheadMs = measureAhead(this.#options.clock);
    if (Math.abs(aheadMs - this.#clockAheadMs) <= CLOCK_STEP_MS) return;
    try {
      this.#host = this.#options.readHost();
      this.#clockAheadMs = aheadMs;
    } catch {
      // For example, no free file descriptor: keeps the old facts and retries at the next tick.
    }
  }

  #answerWaiting(snapshot: AgentSnapshot): void {
    const taken = { snapshot, host: this.#host };
    for (const resolve of this.#waiting) resolve(taken);
    this.#waiting = [];
  }

  /** Returns the parts that viewers and scrapes need; undefined: all. */
  #chooseParts(): ReadonlySet<PartName> | undefined {
    if (this.#waiting.length > 0) return undefined;
    for (const { subprotocol } of this.#viewers) if (subprotocol !== BRIEF) return undefined;
    const parts = this.#viewers.size === 0 ? HISTORY_PARTS : BRIEF_PARTS;
    const sinceScrapeMs = this.#options.clock.monotonicMs() - this.#scrapedAtMs;
    return sinceScrapeMs <= KEEP_GPUS_MS ? parts.union(GPUS) : parts;
  }

  #sample(): AgentSnapshot {
    const parts = this.#chooseParts();
    if (parts === undefined) this.#wholeAtMs = this.#options.clock.monotonicMs();
    return this.#options.sampler.sample(parts);
  }

  /**
   * Resets the baselines of idle collectors: their first rates would cover the whole pause.
   * @param active the parts that were collected at every tick, and keep their baselines
   */
  #wakeCollectors(active: ReadonlySet<PartName>): void {
    const { sampler, clock, intervalSeconds } = this.#options;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#wholeAtMs <= 2000 * intervalSeconds) return;
    this.#wholeAtMs = nowMs;
    sampler.wake(active);
  }
}

/** Returns how far the wall clock is ahead of the monotonic clock. */
function measureAhead({ now, monotonicMs }: Clock): number {
  return now().getTime() - monotonicMs();
}

/** Encodes a snapshot for a subprotocol. */
function encodeSnapshot(
  subprotocol: AgentSubprotocol,
  snapshot: AgentSnapshot,
  host: AgentHost,
): Buffer {
  if (subprotocol === 'latchkey.vector.v1') return encodeFrames(toVectorEvents(snapshot, host));
  if (subprotocol === 'latchkey.otlp-json.v1') return encodeFrames([toOtlpRequest(snapshot, host)]);
  return encodeFrames([{ type: 'snapshot', snapshot } satisfies AgentSnapshotMessage]);
}

/** A connection with unread data. */
interface Buffered {
  /** Bytes buffered in this process. */
  readonly waitingBytes: number;
  /** Closes the connection. */
  drop(why: string): void;
}

/**
 * The limit of unread bytes of all viewers. TLS may hold them three times (plain, joined, encrypted), still well below the 512 MiB
 * that the unit allows.
 */
export const MAX_BUFFERED_BYTES = 64 * 1024 * 1024;

/** Drops the viewers with the most unread bytes until the total is within the limit. */
export function dropSlowest(viewers: Iterable<Buffered>, maxBytes = MAX_BUFFERED_BYTES): void {
  const sizes = Array.from(viewers, (viewer) => ({ viewer, bytes: viewer.waitingBytes }));
  let total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total <= maxBytes) return;
  for (const { viewer, bytes } of sizes.toSorted((one, other) => other.bytes - one.bytes)) {
    if (total <= maxBytes) return;
    viewer.drop('too much was unread for all viewers, and it reads slowest');
    total -= bytes;
  }
}
