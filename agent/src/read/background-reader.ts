import { closeSync, constants, openSync, read } from 'node:fs';

/** Most drivers answer within milliseconds; the slowest healthy sensors (1-wire) take almost a second. */
const DEADLINE_MS = 2_000;

/** A file that took longer is not read for this long. */
const SUSPENSION_MS = 60_000;

/** No caller reads less often than this, so an older value dates from before a pause. */
const KEPT_MS = 300_000;

/** Node.js has four threads for files: two that hang leave two for everything else. */
const MAX_CONCURRENT_READS = 2;

interface FileState {
  readonly file: SlowFile;
  text: string | null;
  readAtMs: number;
  startedAtMs: number | null;
  suspendedUntilMs: number;
}

/**
 * Reads files whose drivers may block for seconds or for ever, without blocking the caller: `textOf` returns the last value. A
 * file that hangs occupies one of two concurrent reads until it answers; while both are occupied, nothing is read.
 */
export class BackgroundReader {
  readonly #monotonicMs: () => number;
  readonly #openFile: (path: string) => SlowFile;
  readonly #files = new Map<string, FileState>();
  readonly #queue = new Set<string>();
  #activeReads = 0;

  constructor(monotonicMs: () => number, openFile = openSlowFile) {
    this.#monotonicMs = monotonicMs;
    this.#openFile = openFile;
  }

  /** Starts reading these files, except active and suspended ones. */
  refresh(paths: readonly string[]): void {
    const atMs = this.#monotonicMs();
    for (const path of paths) {
      const known = this.#stateOf(path);
      if (known.startedAtMs === null && atMs >= known.suspendedUntilMs) this.#queue.add(path);
    }
    this.#startNext();
  }

  /** Returns the last content; null when the last read failed, the current one is late, or none was started for minutes. */
  textOf(path: string): string | null {
    const known = this.#files.get(path);
    if (known === undefined || this.#isLate(known)) return null;
    return this.#monotonicMs() - known.readAtMs > KEPT_MS ? null : known.text;
  }

  /** Closes these files and drops their content. */
  closeFiles(paths: Iterable<string>): void {
    for (const path of paths) {
      this.#files.get(path)?.file.close();
      this.#files.delete(path);
      this.#queue.delete(path);
    }
  }

  /** Whether a read is active: it may never end, and then the process cannot exit normally. */
  isStuck(): boolean {
    return this.#activeReads > 0;
  }

  close(): void {
    this.closeFiles([...this.#files.keys()]);
  }

  #stateOf(path: string): FileState {
    const known = this.#files.get(path);
    if (known !== undefined) return known;
    const file = this.#openFile(path);
    const fresh = { file, text: null, readAtMs: 0, startedAtMs: null, suspendedUntilMs: 0 };
    this.#files.set(path, fresh);
    return fresh;
  }

  #isLate({ startedAtMs }: FileState): boolean {
    return startedAtMs !== null && this.#monotonicMs() - startedAtMs > DEADLINE_MS;
  }

  #startNext(): void {
    for (const path of this.#queue) {
      if (this.#activeReads >= MAX_CONCURRENT_READS) return;
      this.#queue.delete(path);
      const known = this.#files.get(path);
      if (known !== undefined) this.#start(known);
    }
  }

  #start(known: FileState): void {
    this.#activeReads += 1;
    known.startedAtMs = this.#monotonicMs();
    known.file.read((text) => {
      this.#activeReads -= 1;
      if (this.#isLate(known)) known.suspendedUntilMs = this.#monotonicMs() + SUSPENSION_MS;
      known.text = text;
      known.readAtMs = this.#monotonicMs();
      known.startedAtMs = null;
      this.#startNext();
    });
  }
}

const MAX_BYTES = 4096;

/** A file that may block while it is read. It stays open; opening a file of /sys does not reach the driver. */
export interface SlowFile {
  /** Reads on a thread of Node.js; one read at a time. `done` is called once, with null on failure. */
  read(done: (text: string | null) => void): void;
  /** Closes the file after an active read. */
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
        // For any reason (no free file descriptor, a dangling link): the next read retries.
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
