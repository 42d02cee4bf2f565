/**
 * Where events wait. Its functions return at once, so that an event is kept when `track` returns, even if the process is killed then.
 * They may throw: events then wait in memory.
 */
export interface EventStore {
  /** Returns all lines, each with a line break at its end. */
  read(): string;
  /** Adds a line. @param line with a line break at its end */
  append(line: string): void;
  /** Replaces all lines, as a whole or not at all. */
  replace(lines: string): void;
}

/** Keeps events for this run only. */
export function memoryEventStore(): EventStore {
  let kept = '';
  return {
    read: () => kept,
    append(line) {
      kept += line;
    },
    replace(lines) {
      kept = lines;
    },
  };
}
