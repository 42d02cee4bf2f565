/** The disk of the database: a file system of its own, so that a fault can fill it without filling the machine. */
import { execFile } from 'node:child_process';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { messageOf } from '#server/lib/unknown-values.ts';

const run = promisify(execFile);

/** A sparse file: only what is written takes space on the machine. */
const SIZE_BYTES = 16 * 1024 ** 3;

/** Where the data directory is. */
export interface Disk {
  readonly directory: string;
  /** Why the disk cannot be filled; null: it can. */
  readonly obstacle: string | null;
  /** Unmounts it; its image is removed with the directory of the run. */
  close(): Promise<void>;
}

/**
 * Mounts an image with an ext4 file system below a directory. Without the right to mount, the data is in the directory itself, and the
 * disk cannot be filled.
 */
export async function openDisk(home: string, isNeeded: boolean): Promise<Disk> {
  const directory = join(home, 'disk');
  await mkdir(directory);
  const without = (obstacle: string): Disk => ({ directory, obstacle, close: async () => {} });
  if (!isNeeded) return without('the run has no faults');
  if (process.getuid?.() !== 0) return without('only root can mount a file system to fill');
  const image = join(home, 'disk.img');
  try {
    const file = await open(image, 'w');
    await file.truncate(SIZE_BYTES);
    await file.close();
    // No blocks are reserved for root, who also must find the disk full.
    await run('mkfs.ext4', ['-q', '-m', '0', '-E', 'lazy_itable_init=1,nodiscard', image]);
    await run('mount', ['-o', 'loop', image, directory]);
  } catch (error) {
    await rm(image, { force: true });
    return without(`a file system cannot be mounted here (${messageOf(error).split('\n')[0]})`);
  }
  return { directory, obstacle: null, close: () => unmount(directory) };
}

/** A process of the database may still be ending. */
async function unmount(directory: string): Promise<void> {
  try {
    await run('umount', [directory]);
  } catch {
    await run('umount', ['--lazy', directory]);
  }
}
