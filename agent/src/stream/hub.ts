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

/** Somebody who watches. */
export interface Viewer extends Buffered {
  readonly subprotocol: AgentSubprotocol;
  /** Sends messages, or ends the connection when what was sent before still waits to be read. */
  send(frames: Frames): void;
  /**
   * Asks for a sign of life, or ends the connection when the last question was not answered.
   * @param data comes back with the answer
   */
  ping(data: Buffer): void;
}

/** What a hub is made of. */
interface HubOptions {
  readonly sampler: Pick<Sampler, 'sample' | 'wake'>;
  /** Asked at first, and again when the clock of the machine was set: its boot is told by that clock. */
  readonly readHost: () => AgentHost;
  readonly clock: Clock;
  readonly intervalSeconds: number;
  /** What all viewers together may have waiting; less in tests. */
  readonly maxBufferedBytes?: number;
}

/** A clock that leaps further was set; on machines without one of their own that happens a while after boot. */
const LEAP_MS = 1000;

/** Takes a snapshot at each tick and sends it to all viewers, serialised once for each subprotocol. */
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

  /** Greets a viewer, who gets every snapshot from the next tick on. */
  add(viewer: Viewer): void {
    if (this.#viewers.size === 0) this.#wakeCollectors();
    this.#viewers.add(viewer);
    if (viewer.subprotocol === 'latchkey.snapshot.v1') viewer.send(this.#greet());
    dropSlowest(this.#viewers, this.#options.maxBufferedBytes);
  }

  remove(viewer: Viewer): void {
    this.#viewers.delete(viewer);
  }

  /** Takes a snapshot. While nobody watches, only what the history holds is collected. */
  tick(): void {
    const { sampler } = this.#options;
    this.#noticeLeap();
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
   * Asks all viewers for a sign of life.
   * @param data at random, so that nobody answers before the question
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

  #noticeLeap(): void {
    const aheadMs = measureAhead(this.#options.clock);
    if (Math.abs(aheadMs - this.#clockAheadMs) <= LEAP_MS) return;
    try {
      this.#host = this.#options.readHost();
      this.#clockAheadMs = aheadMs;
    } catch {
      // Without a file handle left, say: it stays as it was read before, and is read again at the next tick.
    }
  }

  #sampleAll(): ReturnType<Sampler['sample']> {
    this.#wholeAtMs = this.#options.clock.monotonicMs();
    return this.#options.sampler.sample();
  }

  /** Rates are over the time since a collector was asked: after a rest, the first snapshot would be over all of it. */
  #wakeCollectors(): void {
    const { sampler, clock, intervalSeconds } = this.#options;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#wholeAtMs <= 2000 * intervalSeconds) return;
    this.#wholeAtMs = nowMs;
    // What was asked at every tick stays as it is: the history would be over the moment since now.
    sampler.wake(HISTORY_PARTS);
  }
}

/** By how much the clock for people is ahead of the one that only goes forward. */
function measureAhead({ now, monotonicMs }: Clock): number {
  return now().getTime() - monotonicMs();
}

/** Text messages, as the bytes that all viewers of a subprotocol get. */
export type Frames = readonly Buffer[];

/** A snapshot as the messages of a subprotocol. */
function encodeSnapshot(
  subprotocol: AgentSubprotocol,
  snapshot: AgentSnapshot,
  host: AgentHost,
): Frames {
  if (subprotocol === 'latchkey.vector.v1') return toVectorEvents(snapshot, host).map(encode);
  if (subprotocol === 'latchkey.otlp-json.v1') return [encode(toOtlpRequest(snapshot, host))];
  return [encode({ type: 'snapshot', snapshot } satisfies AgentSnapshotMessage)];
}

/** The first message of `latchkey.snapshot.v1`; the other subprotocols have none. */
function encodeHello(hello: AgentHello): Frames {
  return [encode(hello)];
}

function encode(message: object): Buffer {
  return Buffer.from(JSON.stringify(message));
}

/** What a viewer has not read yet. */
interface Buffered {
  /** Bytes that wait in this process to be sent. */
  readonly waitingBytes: number;
  /** Ends the connection. */
  drop(why: string): void;
}

/**
 * All viewers together may have this much waiting. TLS may hold it three times (as it is, joined, encrypted), so that it stays
 * well below the 512 MiB that the unit allows the agent.
 */
export const MAX_BUFFERED_BYTES = 64 * 1024 * 1024;

/** Drops the viewers with the most waiting, until all together have no more than a maximum. */
export function dropSlowest(viewers: Iterable<Buffered>, maxBytes = MAX_BUFFERED_BYTES): void {
  const sizes = Array.from(viewers, (viewer) => ({ viewer, bytes: viewer.waitingBytes }));
  let total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total <= maxBytes) return;
  for (const { viewer, bytes } of sizes.toSorted((one, other) => other.bytes - one.bytes)) {
    if (total <= maxBytes) return;
    viewer.drop('too much waited for all viewers, and it reads the slowest');
    total -= bytes;
  }
}
