import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';

/** Linux's file system in memory (shm_overview(7)). */
const SHARED_MEMORY = '/dev/shm';

/** A run stores up to 300 MB at a time. */
const REQUIRED_BYTES = 2 * 1024 ** 3;

/**
 * Returns the directory for the temporary files of a test run: in memory where there is room, else the system's. Test
 * databases create and remove some hundred thousand files; on ext4 the kernel spent 110 s of a run on finding free inodes.
 */
export async function findTestRoot(): Promise<string> {
  return (await isUsable(SHARED_MEMORY)) ? SHARED_MEMORY : tmpdir();
}

async function isUsable(path: string): Promise<boolean> {
  if (process.platform !== 'linux' || process.env['TMPDIR'] !== undefined) return false;
  try {
    const { bavail, bsize } = await statfs(path);
    const freeBytes = Math.min(bavail * bsize, freemem());
    return freeBytes >= REQUIRED_BYTES && (await canRunPrograms(path));
  } catch {
    // It is missing, or this user may not write to it.
    return false;
  }
}

/** Containers mount it with `noexec`, and tests start programs of their temporary directory. */
async function canRunPrograms(path: string): Promise<boolean> {
  const directory = await mkdtemp(join(path, 'latchkey-probe-'));
  try {
    const program = join(directory, 'program');
    await writeFile(program, '#!/bin/sh\n', { mode: 0o700 });
    return spawnSync(program).status === 0;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
