/** Faults of the disk under the database. */
import { execFile } from 'node:child_process';
import { rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import { defineCommand, execute } from '#server/db/statement.ts';

import { MESSAGE_NOT_SENT, MESSAGE_UNKNOWN } from '../load/operations.ts';
import { noObstacle, once, type Fault, type FaultTarget } from './fault.ts';

const run = promisify(execFile);

/** The service checks the free space every 5 seconds, and must have done so while the disk is full. */
const FULL_MS = 8_000;

const BLOCK_BYTES = 4_096;

export const diskFull: Fault = {
  name: 'disk full',
  effect: 'Fills the file system of the database to its last block for 8 seconds.',
  allowed: [
    '503 storage_low',
    '503 database_unavailable',
    '503 overloaded',
    MESSAGE_NOT_SENT,
    MESSAGE_UNKNOWN,
  ],
  recoveryMs: 30_000,
  countInterruptions: once,
  findObstacle: async ({ disk }) => disk.obstacle,
  async cause({ disk }) {
    const files: string[] = [];
    try {
      await fill(disk.directory, files);
      await sleep(FULL_MS);
    } finally {
      for (const file of files) await rm(file, { force: true });
    }
  },
};

/** Allocates files until not even a block is free. */
async function fill(directory: string, files: string[]): Promise<void> {
  const { bavail, bsize } = await statfs(directory);
  for (let bytes = bavail * bsize; bytes >= BLOCK_BYTES;) {
    const file = join(directory, `filler-${files.length}`);
    files.push(file);
    try {
      await run('fallocate', ['-l', String(Math.floor(bytes)), file]);
    } catch {
      // The file system keeps some blocks for itself: tries half as much.
      await rm(file, { force: true });
      bytes /= 2;
    }
  }
}

/** Of each flush of the write-ahead log: that of a hard disk, or of a busy network storage. */
const FLUSH_DELAY_US = 60_000;

const slowDown = defineCommand(
  'soak_delay_commits',
  `alter system set commit_delay = ${FLUSH_DELAY_US}`,
);
const ignoreSiblings = defineCommand(
  'soak_delay_single_commits',
  'alter system set commit_siblings = 0',
);
const resetDelay = defineCommand('soak_reset_delay', 'alter system reset commit_delay');
const resetSiblings = defineCommand('soak_reset_siblings', 'alter system reset commit_siblings');
const reload = defineCommand('soak_reload', 'select pg_reload_conf()');

export const diskSlow: Fault = {
  name: 'disk slow',
  effect:
    'Makes PostgreSQL wait 60 ms before each flush of its write-ahead log (commit_delay), as on a slow disk. Reads are not slower.',
  allowed: [],
  recoveryMs: 5_000,
  findObstacle: noObstacle,
  async cause({ holdMs, pool }: FaultTarget) {
    for (const command of [slowDown, ignoreSiblings, reload]) await execute(pool, command, []);
    try {
      await sleep(holdMs);
    } finally {
      for (const command of [resetDelay, resetSiblings, reload]) await execute(pool, command, []);
    }
  },
};
