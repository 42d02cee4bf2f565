import { closeSync, constants, openSync, read } from 'node:fs';

/** A driver that is well answers within milliseconds; the slowest honest sensors (1-wire) take almost a second. */
const DEADLINE_MS = 2_000;

/** A file that took longer is left alone for this long. */
const REST_MS = 60_000;

/** Nobody asks more seldom than this: an answer that is older is from before a time in which nobody asked. */
const KEPT_MS = 300_000;

/** Of the four threads that Node.js reads with: two that hang leave two for everything else. */
const MAX_UNDER_WAY = 2;

interface Known {
  readonly file: SlowFile;
  text: string | null;
  readAtMs: number;
  startedAtMs: number | null;
  restUntilMs: number;
}

/**
 * Reads files whose drivers may take seconds or hang, and never has anybody wait: what is told is what was read last. A
 * file that hangs is given up until it answers, and holds one of two places; when both are held, nothing is read.
 */
export class BackgroundReader {
  readonly #monotonicMs: () => number;
  readonly #openFile: (path: string) => SlowFile;
  readonly #known = new Map<string, Known>();
  readonly #queue = new Set<string>();
  #underWay = 0;

  constructor(monotonicMs: () => number, openFile = openSlowFile) {
    this.#monotonicMs = monotonicMs;
    this.#openFile = openFile;
  }

  /** Begins to read these, but for those that are being read or rest. */
  refresh(paths: readonly string[]): void {
    const atMs = this.#monotonicMs();
    for (const path of paths) {
      const known = this.#know(path);
      if (known.startedAtMs === null && atMs >= known.restUntilMs) this.#queue.add(path);
    }
    this.#startNext();
  }

  /** What the file said last; null when it said nothing, takes too long now, or has not been asked for minutes. */
  textOf(path: string): string | null {
    const known = this.#known.get(path);
    if (known === undefined || this.#isLate(known)) return null;
    return this.#monotonicMs() - known.readAtMs > KEPT_MS ? null : known.text;
  }

  /** Forgets these files and closes them. */
  forget(paths: Iterable<string>): void {
    for (const path of paths) {
      this.#known.get(path)?.file.close();
      this.#known.delete(path);
      this.#queue.delete(path);
    }
  }

  /** Whether a read is under way, which may never end: then the process cannot end by itself. */
  isStuck(): boolean {
    return this.#underWay > 0;
  }

  close(): void {
    this.forget([...this.#known.keys()]);
  }

  #know(path: string): Known {
    const known = this.#known.get(path);
    if (known !== undefined) return known;
    const file = this.#openFile(path);
    const fresh = { file, text: null, readAtMs: 0, startedAtMs: null, restUntilMs: 0 };
    this.#known.set(path, fresh);
    return fresh;
  }

  #isLate({ startedAtMs }: Known): boolean {
    return startedAtMs !== null && this.#monotonicMs() - startedAtMs > DEADLINE_MS;
  }

  #startNext(): void {
    for (const path of this.#queue) {
      if (this.#underWay >= MAX_UNDER_WAY) return;
      this.#queue.delete(path);
      const known = this.#known.get(path);
      if (known !== undefined) this.#start(known);
    }
  }

  #start(known: Known): void {
    this.#underWay += 1;
    known.startedAtMs = this.#monotonicMs();
    known.file.read((text) => {
      this.#underWay -= 1;
      if (this.#isLate(known)) known.restUntilMs = this.#monotonicMs() + REST_MS;
      known.text = text;
      known.readAtMs = this.#monotonicMs();
      known.startedAtMs = null;
      this.#startNext();
    });
  }
}

const MAX_BYTES = 4096;

/** A file that may take long to read, kept open. Opening one of /sys asks no driver, so that is done at once. */
export interface SlowFile {
  /** Reads it on a thread of Node.js; `done` is called once, with null when it cannot be read. One read at a time. */
  read(done: (text: string | null) => void): void;
  /** Closes it, after the read that is under way. */
  close(): void;
}

export function openSlowFile(path: string): SlowFile {
  let file: number | null = null;
  let reading = false;
  let closed = false;

  function closeNow(): void {
    if (file !== null) closeSync(file);
    file = null;
  }

  return {
    read(done) {
      try {
        file ??= openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
      } catch {
        // Whatever the reason (no file handle is left, a link that leads nowhere): the next read tries again.
        process.nextTick(done, null);
        return;
      }
      reading = true;
      const buffer = Buffer.allocUnsafe(MAX_BYTES);
      read(file, buffer, 0, MAX_BYTES, 0, (error, length) => {
        reading = false;
        if (error !== null || closed) closeNow();
        done(error === null ? buffer.toString('utf8', 0, length).trim() : null);
      });
    },
    close() {
      closed = true;
      if (!reading) closeNow();
    },
  };
}
