import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { type Static, Type } from 'typebox';
import { Parse } from 'typebox/value';

const Names = Type.Optional(Type.Record(Type.String(), Type.String()));
const Platforms = Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())]));

const LockedPackage = Type.Object({
  /** Of a package that is installed under another name. */
  name: Type.Optional(Type.String()),
  version: Type.Optional(Type.String()),
  integrity: Type.Optional(Type.String()),
  license: Type.Optional(Type.String()),
  link: Type.Optional(Type.Boolean()),
  resolved: Type.Optional(Type.String()),
  optional: Type.Optional(Type.Boolean()),
  os: Platforms,
  cpu: Platforms,
  dependencies: Names,
  optionalDependencies: Names,
  peerDependencies: Names,
});

/** An entry of package-lock.json. */
export type LockedPackage = Static<typeof LockedPackage>;

/** The entries of package-lock.json by path: `node_modules/…`, and the folders of the workspaces. */
export type LockedPackages = Readonly<Record<string, LockedPackage>>;

const Lock = Type.Object({ packages: Type.Record(Type.String(), LockedPackage) });

/** @param root the repository */
export async function readLockFile(root: string): Promise<LockedPackages> {
  return Parse(Lock, JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'))).packages;
}

/**
 * Returns the paths of the packages that a workspace needs at run time, for every platform, sorted. Workspaces that it imports
 * are followed, but are not in the list.
 * @param folder the workspace
 * @throws Error when the lock file is incomplete
 */
export function listRuntimePackages(packages: LockedPackages, folder: string): string[] {
  const found = new Set([folder]);
  for (const path of found) {
    const entry = packages[path];
    if (entry === undefined) throw new Error(`package-lock.json has no ${path}.`);
    const { dependencies, optionalDependencies, peerDependencies } = entry;
    for (const name of Object.keys({
      ...peerDependencies,
      ...optionalDependencies,
      ...dependencies,
    })) {
      const dependency = resolvePackage(packages, path, name);
      // npm installs no optional peer.
      if (dependency !== null) found.add(dependency);
      else if (dependencies?.[name] !== undefined) throw new Error(`${path} lacks ${name}.`);
    }
  }
  return [...found].filter((path) => path.includes('node_modules/')).sort();
}

/** Finds a package as Node.js does: below the importing one, then in the folders above. */
function resolvePackage(packages: LockedPackages, from: string, name: string): string | null {
  for (let folder = from; ; folder = parentOf(folder)) {
    const path = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    const entry = packages[path];
    if (entry !== undefined) return entry.link === true ? (entry.resolved ?? path) : path;
    if (folder === '') return null;
  }
}

/** The folder whose `node_modules` contains the package; the repository for a workspace. */
function parentOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('node_modules/') - 1, 0));
}
