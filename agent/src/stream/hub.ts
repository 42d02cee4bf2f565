import type {
  AgentHello,
  AgentHost,
  AgentSnapshot,
  AgentSnapshotMessage,
  AgentSubprotocol,
} from '@latchkey/contract';

import type { Clock } from '../clock.ts';
import { toOtlpRequest } from '../formats/otlp.ts';
import { toVectorEvents } from '../formats/vector.ts';
import type { Sampler } from '../sample.ts';
import { version } from '../version.ts';
import { History, HISTORY_PARTS } from './history.ts';

/** A connected viewer. */
export interface Viewer extends Buffered {
  readonly subprotocol: AgentSubprotocol;
  /** Sends messages, or drops the viewer when too much is unread. */
  send(frames: Frames): void;
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
  /** The limit of unread bytes of all viewers. */
  readonly maxBufferedBytes?: number;
}

/** A larger difference means that the wall clock was set, as on machines without a hardware clock after boot. */
const CLOCK_STEP_MS = 1000;

/** Takes a snapshot at each tick and sends it to all viewers, encoded once for each subprotocol. */
export class Hub {
  readonly #options: HubOptions;
  readonly #history = new History();
  readonly #viewers = new Set<Viewer>();
  #hello: Frames | null = null;
  #wholeAtMs = Number.NEGATIVE_INFINITY;
  #host: AgentHost;
  #clockAheadMs: number;

  constructor(options: HubOptions) {
    this.#options = options;
    this.#host = options.readHost();
    this.#clockAheadMs = measureAhead(options.clock);
  }

  get viewers(): ReadonlySet<Viewer> {
    return this.#viewers;
  }

  /** Adds a viewer, sends the hello, and sends every snapshot from the next tick. */
  add(viewer: Viewer): void {
    if (this.#viewers.size === 0) this.#wakeCollectors();
    this.#viewers.add(viewer);
    if (viewer.subprotocol === 'latchkey.snapshot.v1') viewer.send(this.#greet());
    dropSlowest(this.#viewers, this.#options.maxBufferedBytes);
  }

  remove(viewer: Viewer): void {
    this.#viewers.delete(viewer);
  }

  /** Takes a snapshot. Without viewers, only the parts of the history are collected. */
  tick(): void {
    const { sampler } = this.#options;
    this.#detectClockStep();
    const isWatched = this.#viewers.size > 0;
    const snapshot = isWatched ? this.#sampleAll() : sampler.sample(HISTORY_PARTS);
    this.#history.add(snapshot);
    this.#hello = null;
    const encoded = new Map<AgentSubprotocol, Frames>();
    for (const viewer of this.#viewers) {
      let frames = encoded.get(viewer.subprotocol);
      if (frames === undefined) {
        frames = encodeSnapshot(viewer.subprotocol, snapshot, this.#host);
        encoded.set(viewer.subprotocol, frames);
      }
      viewer.send(frames);
    }
    dropSlowest(this.#viewers, this.#options.maxBufferedBytes);
  }

  /**
   * Pings all viewers.
   * @param data random, so that no viewer can answer in advance
   */
  ping(data: Buffer): void {
    for (const viewer of this.#viewers) viewer.ping(data);
  }

  #greet(): Frames {
    const { intervalSeconds } = this.#options;
    this.#hello ??= encodeHello({
      type: 'hello',
      schema_version: 1,
      agent_version: version,
      interval_seconds: intervalSeconds,
      host: this.#host,
      history: this.#history.points,
    });
    return this.#hello;
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

  #sampleAll(): ReturnType<Sampler['sample']> {
    this.#wholeAtMs = this.#options.clock.monotonicMs();
    return this.#options.sampler.sample();
  }

  /** Resets the baselines of idle collectors: their first rates would cover the whole pause. */
  #wakeCollectors(): void {
    const { sampler, clock, intervalSeconds } = this.#options;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#wholeAtMs <= 2000 * intervalSeconds) return;
    this.#wholeAtMs = nowMs;
    // Collectors of the history keep their baselines: they ran at every tick.
    sampler.wake(HISTORY_PARTS);
  }
}

/** Returns how far the wall clock is ahead of the monotonic clock. */
function measureAhead({ now, monotonicMs }: Clock): number {
  return now().getTime() - monotonicMs();
}

/** Encoded text messages of a subprotocol. */
export type Frames = readonly Buffer[];

/** Encodes a snapshot for a subprotocol. */
function encodeSnapshot(
  subprotocol: AgentSubprotocol,
  snapshot: AgentSnapshot,
  host: AgentHost,
): Frames {
  if (subprotocol === 'latchkey.vector.v1') return toVectorEvents(snapshot, host).map(encode);
  if (subprotocol === 'latchkey.otlp-json.v1') return [encode(toOtlpRequest(snapshot, host))];
  return [encode({ type: 'snapshot', snapshot } satisfies AgentSnapshotMessage)];
}

/** Encodes the first message of `latchkey.snapshot.v1`; the other subprotocols have none. */
function encodeHello(hello: AgentHello): Frames {
  return [encode(hello)];
}

function encode(message: object): Buffer {
  return Buffer.from(JSON.stringify(message));
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
