import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import type { TarEntry } from '../../agent/src/system/tar.ts';

/** Writes entries of an archive as files; an existing directory is replaced. */
export async function writeTree(directory: string, entries: readonly TarEntry[]): Promise<void> {
  await rm(directory, { recursive: true, force: true });
  for (const { path, content, mode, linkTo } of entries) {
    const target = join(directory, path);
    await mkdir(path.endsWith('/') ? target : dirname(target), { recursive: true });
    // mkdir applies the umask, and not every bit.
    if (path.endsWith('/')) await chmod(target, mode);
    else if (linkTo !== undefined) await symlink(linkTo, target);
    else await writeFile(target, content, { mode });
  }
}
