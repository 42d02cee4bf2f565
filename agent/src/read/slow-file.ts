import { closeSync, constants, openSync, read } from 'node:fs';

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
