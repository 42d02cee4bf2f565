import { mkdtemp, open, readdir, rm, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { hasCode } from '#server/lib/unknown-values.ts';

import { FILE_MODE } from './store-file.ts';

/** The names of temporary directories have the id of their process. */
const PREFIX = 'latchkey-archive-';
const NAME = /^latchkey-archive-(?<pid>\d+)-\w{6}$/u;

/** Runs work with a new file in the temporary directory, which only its owner can read, and removes it. */
export async function withTemporaryFile<Result>(
  work: (file: FileHandle, path: string) => Promise<Result>,
): Promise<Result> {
  const directory = await mkdtemp(join(tmpdir(), `${PREFIX}${process.pid}-`));
  try {
    const path = join(directory, 'events.parquet');
    const file = await open(path, 'wx', FILE_MODE);
    try {
      return await work(file, path);
    } finally {
      await file.close();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Removes the temporary files of processes that do not run any more. */
export async function removeTemporaryFiles(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = NAME.exec(name)?.groups?.['pid'];
    if (pid === undefined || isRunning(Number(pid))) continue;
    // It may belong to another user, who removes it.
    await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(() => undefined);
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !hasCode(error, 'ESRCH');
  }
}
