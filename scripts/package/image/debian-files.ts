import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';

import type { TarEntry } from '../../../agent/src/system/tar.ts';
import { readAr } from '../deb/ar.ts';

const run = promisify(execFile);

/** Libraries with their loader, `sh`, the links between directories, the name of the system, and the licenses. */
const KEPT =
  /^(?:usr\/lib(?:64)?\/(?:[^/]+\/)?[^/]+\.so(?:\.\d+)*|usr\/bin\/(?:da)?sh|bin|lib(?:64)?|(?:usr\/lib|etc)\/os-release|usr\/share\/(?:doc\/[^/]+(?:\/copyright)?|common-licenses\/[^/]+))$/;

/**
 * Reads what the image needs of a Debian package.
 * @param content of the package
 * @throws Error when it is no package, or `tar` and `xz` are missing
 */
export async function readDebianFiles(content: Buffer): Promise<TarEntry[]> {
  const archive = readAr(content).find(({ name }) => name === 'data.tar.xz');
  if (archive === undefined) throw new Error('A package of Debian has no data.tar.xz.');
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-debian-'));
  try {
    await writeFile(join(folder, 'data.tar.xz'), archive.content);
    await run('tar', ['--extract', '--xz', '--file=data.tar.xz', '--no-same-owner'], {
      cwd: folder,
    });
    return await readFolder(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function readFolder(folder: string): Promise<TarEntry[]> {
  const all = await readdir(folder, { recursive: true, withFileTypes: true });
  const kept = all
    .map((each) => ({ each, path: relative(folder, join(each.parentPath, each.name)) }))
    .filter(({ each, path }) => !each.isDirectory() && KEPT.test(path));
  return Promise.all(
    kept.map(async ({ each, path }) => {
      const file = join(folder, path);
      if (each.isSymbolicLink()) {
        return { path, mode: 0o777, content: Buffer.alloc(0), linkTo: await readlink(file) };
      }
      return { path, mode: (await stat(file)).mode & 0o755, content: await readFile(file) };
    }),
  );
}
