import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';

import type { TarEntry } from '../../../agent/src/system/tar.ts';
import { ReleaseError } from '../../release/release-error.ts';
import { readAr } from '../deb/ar.ts';

const run = promisify(execFile);

/** Libraries with their loader, `sh`, the links between directories, the name of the system, and the licenses. */
const KEPT =
  /^(?:usr\/lib(?:64)?\/(?:[^/]+\/)?[^/]+\.so(?:\.\d+)*|usr\/bin\/(?:da)?sh|bin|lib(?:64)?|(?:usr\/lib|etc)\/os-release|usr\/share\/(?:doc\/[^/]+(?:\/copyright)?|common-licenses\/[^/]+))$/;

/**
 * Reads what the image needs of a Debian package.
 * @param content of the package
 * @throws ReleaseError where `tar` or `xz` is missing
 */
export async function readDebianFiles(content: Buffer): Promise<TarEntry[]> {
  const archive = readAr(content).find(({ name }) => name === 'data.tar.xz');
  if (archive === undefined) throw new Error('A package of Debian has no data.tar.xz.');
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-debian-'));
  try {
    await writeFile(join(folder, 'data.tar.xz'), archive.content);
    await unpack(folder);
    return await readFolder(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function unpack(folder: string): Promise<void> {
  const args = ['--extract', '--xz', '--file=data.tar.xz', '--no-same-owner'];
  await run('tar', args, { cwd: folder }).catch((error: unknown) => {
    throw new ReleaseError(
      `Could not unpack a package of Debian for the container image: install tar and xz.\n${String(error)}`,
    );
  });
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
