import { join } from 'node:path';

import type { TarEntry } from '../../../agent/src/system/tar.ts';
import { writeTree } from '../write-tree.ts';

/** What the account of the service owns is below it. */
const DATA_PARENT = 'var/lib/';

/**
 * Writes the root directory of the image for deploy/Containerfile, without root: what belongs to the account of the service is in a
 * directory of its own, whose owner the Containerfile sets.
 */
export async function writeImageTree(
  directory: string,
  entries: readonly TarEntry[],
): Promise<void> {
  const parent = { path: DATA_PARENT, mode: 0o755, content: Buffer.alloc(0) };
  const data = entries
    .filter(isOwned)
    .map((entry) => ({ ...entry, path: entry.path.slice(DATA_PARENT.length) }));
  await writeTree(join(directory, 'root'), [...entries.filter((entry) => !isOwned(entry)), parent]);
  await writeTree(join(directory, 'data'), data);
}

function isOwned({ owner = 0 }: TarEntry): boolean {
  return owner !== 0;
}
