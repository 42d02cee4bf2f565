import type {
  AgentBriefHello,
  AgentBriefHistory,
  AgentBriefPoints,
  AgentHistoryPoint,
  AgentSnapshot,
} from '@latchkey/contract';

import type { PartName } from '../collector.ts';
import { findNotices } from '../notices.ts';
import { encodeFrames } from './frames.ts';
import { HISTORY_PARTS } from './history.ts';
import { NoticeBoard, type NoticeList } from './notice-board.ts';

/** The subprotocol for pages that watch many machines. */
export const BRIEF = 'latchkey.brief.v1';

/**
 * The parts that its viewers need: the history, and the parts with problems. All are cheap; programs that report GPUs, processes
 * and containers stay idle.
 */
export const BRIEF_PARTS: ReadonlySet<PartName> = new Set<PartName>([
  ...HISTORY_PARTS,
  'disk_health',
  'filesystems',
  'sensors',
  'batteries',
  'units',
  'raspberry_pi',
]);

/**
 * The most viewers that get a message at a tick, unless that leaves some without one for `MAX_POINTS` ticks. A message costs the
 * same, whatever its length, so more viewers take turns and get several points at once.
 */
export const MAX_AT_ONCE = 250;

/** The most points in a message. */
const MAX_POINTS = 10;

/** What one tick has for viewers. */
interface Update {
  readonly point: AgentHistoryPoint;
  /** The list of notices, if it changed. */
  readonly news: NoticeList | null;
}

/** A viewer, as the hub has it. */
interface Receiver {
  send(frames: Buffer): void;
}

/** Sends points and notices to the viewers of `latchkey.brief.v1`, encoded once for viewers that miss the same points. */
export class BriefFeed {
  readonly #board = new NoticeBoard();
  /** The viewers and the tick of their last message, longest ago first. */
  readonly #viewers = new Map<Receiver, number>();
  /** The last ticks, oldest first. */
  readonly #updates: Update[] = [];
  #tick = 0;

  /** The notices that viewers have, or get at their turn; null before the first. */
  get notices(): NoticeList | null {
    return this.#board.announced;
  }

  /** Adds a viewer that has everything up to now. */
  add(viewer: Receiver): void {
    this.#viewers.set(viewer, this.#tick);
  }

  remove(viewer: Receiver): void {
    this.#viewers.delete(viewer);
  }

  /** Adds the point of a tick, and sends it. @param atMs the monotonic time */
  tick(point: AgentHistoryPoint, snapshot: AgentSnapshot, atMs: number): void {
    this.#tick += 1;
    if (this.#viewers.size === 0) {
      this.#board.clear();
      this.#updates.length = 0;
      return;
    }
    const news = this.#board.update(findNotices(snapshot), snapshot.time, atMs);
    if (this.#updates.push({ point, news }) > MAX_POINTS) this.#updates.shift();
    this.#send();
  }

  #send(): void {
    const count = Math.max(MAX_AT_ONCE, Math.ceil(this.#viewers.size / MAX_POINTS));
    const encoded = new Map<number, Buffer>();
    for (const [viewer, sentAt] of [...this.#viewers].slice(0, count)) {
      let frames = encoded.get(sentAt);
      if (frames === undefined) {
        frames = encodePoints(this.#updates.slice(sentAt - this.#tick));
        encoded.set(sentAt, frames);
      }
      viewer.send(frames);
      // Moves it to the end.
      this.#viewers.delete(viewer);
      this.#viewers.set(viewer, this.#tick);
    }
  }
}

function encodePoints(updates: readonly Update[]): Buffer {
  const points = updates.map(({ point }) => point);
  const list = updates.findLast(({ news }) => news !== null)?.news;
  return encodeFrames([{ type: 'points', points, ...list } satisfies AgentBriefPoints]);
}

const COLUMNS = [
  'cpu_usage_ratio',
  'load_1m',
  'memory_usage_ratio',
  'disk_read_bytes_per_second',
  'disk_write_bytes_per_second',
  'receive_bytes_per_second',
  'transmit_bytes_per_second',
] as const satisfies readonly (keyof AgentBriefHistory)[];

/** Creates the first message: as columns, the history takes a third of the bytes. */
export function toBriefHello(
  facts: Omit<AgentBriefHello, 'history' | 'schema_version' | 'type'>,
  points: readonly AgentHistoryPoint[],
): AgentBriefHello {
  const history: AgentBriefHistory = { time: points.map(({ time }) => time) };
  for (const name of COLUMNS) {
    const column = points.map((point) => point[name] ?? null);
    if (column.some((value) => value !== null)) history[name] = column;
  }
  return { type: 'hello', schema_version: 1, ...facts, history };
}
