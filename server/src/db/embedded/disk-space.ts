import { statfs } from 'node:fs/promises';

import type { EmbeddedPostgresLog } from './server-log.ts';

const MIB = 1_048_576;

/** Below this, requests get `storage_low`: PostgreSQL needs space for its log and for compaction, or it stops. */
const LOW_SPACE_MIB = 512;

/** The condition ends only above this, so that it does not change with every check. */
const ENOUGH_SPACE_MIB = 768;

/** Monitors the free space on the file system of a directory. */
export class DiskSpace {
  readonly #directory: string;
  readonly #log: EmbeddedPostgresLog;
  readonly #readFreeMib: (directory: string) => Promise<number>;
  #isLow = false;
  #freeBytes: number | null = null;

  constructor(
    directory: string,
    log: EmbeddedPostgresLog,
    readFreeMib: (directory: string) => Promise<number> = readFreeSpace,
  ) {
    this.#directory = directory;
    this.#log = log;
    this.#readFreeMib = readFreeMib;
  }

  /** Whether space was low at the last check. */
  get isLow(): boolean {
    return this.#isLow;
  }

  /** Free space at the last check; null before the first one. */
  get freeBytes(): number | null {
    return this.#freeBytes;
  }

  /** Checks once, and logs when the condition begins or ends. */
  async check(): Promise<void> {
    const freeMib = await this.#readFreeMib(this.#directory);
    this.#freeBytes = freeMib * MIB;
    this.#update(freeMib);
  }

  #update(freeMib: number): void {
    const fields = { free_mib: Math.floor(freeMib) };
    if (!this.#isLow && freeMib < LOW_SPACE_MIB) {
      this.#isLow = true;
      const event = 'disk.low_started';
      this.#log.error({ event, ...fields }, 'disk space is low: refusing events and heartbeats');
    } else if (this.#isLow && freeMib >= ENOUGH_SPACE_MIB) {
      this.#isLow = false;
      const event = 'disk.low_ended';
      this.#log.info(
        { event, ...fields },
        'disk space is sufficient: storing events and heartbeats again',
      );
    }
  }
}

/** Returns the free space on the file system of a directory, in MiB. */
export async function readFreeSpace(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return (bavail * bsize) / MIB;
}
