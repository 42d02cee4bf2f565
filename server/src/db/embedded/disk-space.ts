import { statfs } from 'node:fs/promises';

import { messageOf } from '#server/lib/unknown-values.ts';

import type { EmbeddedPostgresLog } from './server-log.ts';

const MIB = 1_048_576;
const CHECK_INTERVAL_MS = 5_000;

/** Below this, requests get `storage_low`: PostgreSQL needs space for its log and for compaction, or it stops. */
const LOW_SPACE_MIB = 512;

/** The condition ends only at this, so that it does not change with every check. */
const ENOUGH_SPACE_MIB = 768;

/** Monitors the free space on the file system of a directory. */
export class DiskSpace {
  readonly #directory: string;
  readonly #log: EmbeddedPostgresLog;
  readonly #readFreeMib: (directory: string) => Promise<number>;
  #timer: NodeJS.Timeout | undefined;
  #isLow = false;

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

  /** Checks now and then every five seconds. */
  async start(): Promise<void> {
    await this.check();
    this.#timer = setInterval(() => void this.check(), CHECK_INTERVAL_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Checks once, and logs when the condition begins or ends. */
  async check(): Promise<void> {
    try {
      this.#judge(await this.#readFreeMib(this.#directory));
    } catch (error) {
      const fields = { event: 'disk.check_failed', reason: messageOf(error) };
      this.#log.error(fields, 'could not read the free disk space');
    }
  }

  #judge(freeMib: number): void {
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

async function readFreeSpace(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return (bavail * bsize) / MIB;
}
