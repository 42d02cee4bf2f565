import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import type { Store } from '../kept/store.ts';

/** Keeps the state in `license.json` of a folder, which only this user can read. The folder is created. */
export function fileStore(folder: string): Store {
  const path = join(folder, 'license.json');
  return {
    async read() {
      // Nothing is lost if they stay.
      await removeOldTemporaries(folder).catch(() => undefined);
      return await readOrNull(path);
    },
    write: (text) => replaceFile(path, text),
    setAside: () => rename(path, `${path}.damaged`),
  };
}

function readOrNull(path: string): Promise<string | null> {
  return retry(() =>
    readFile(path, 'utf8').catch((error: unknown) => {
      if (isMissing(error)) return null;
      throw error;
    }),
  );
}

/** Whether an error means that a file does not exist. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

const TEMPORARY = /^(?:license\.json|events\.jsonl)\..+\.tmp$/u;

/** More than writing takes, and than the clocks of a network differ. */
const TEMPORARY_LIFETIME_MS = 3_600_000;

/** Removes the temporary files that killed programs left. */
async function removeOldTemporaries(folder: string): Promise<void> {
  const names = await readdir(folder);
  for (const path of names
    .filter((name) => TEMPORARY.test(name))
    .map((name) => join(folder, name))) {
    const { mtimeMs } = await stat(path);
    if (mtimeMs < Date.now() - TEMPORARY_LIFETIME_MS) await rm(path, { force: true });
  }
}

const OWNER_ONLY = 0o600;

/** Writes a file beside, flushes it, and renames it, so that a process that is killed leaves the old one or the new one. */
async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  await mkdir(dirname(path), { recursive: true });
  try {
    const file = await open(temporary, 'w', OWNER_ONLY);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await retry(() => rename(temporary, path));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

const TRIES = 5;
const PAUSE_MS = 20;

/** Tries again for 200 ms: a virus scanner may hold a file, or too many files be open, for a moment. */
async function retry<Outcome>(work: () => Promise<Outcome>): Promise<Outcome> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries >= TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * tries));
    }
  }
}
