import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import { listRuntimePackages, readLockFile } from '../lock-file.ts';

const Versions = Type.Optional(Type.Record(Type.String(), Type.String()));

const Manifest = Type.Object({
  version: Type.String(),
  description: Type.String(),
  license: Type.String(),
  dependencies: Versions,
  optionalDependencies: Versions,
});

/** `package.json` of the packed service: it installs the versions that the lock file of the repository names. */
export interface ServiceManifest {
  readonly name: 'latchkey';
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly type: 'module';
  readonly bin: Readonly<Record<string, string>>;
  readonly engines: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

/**
 * Creates `package.json` of the packed service.
 * @param root the repository
 * @param version the version of the release
 */
export async function createManifest(root: string, version: string): Promise<ServiceManifest> {
  const own = await readManifest(root, '.');
  const server = await readManifest(root, 'server');
  const contract = await readManifest(root, 'contract');
  const dependencies = Object.entries({ ...contract.dependencies, ...server.dependencies });
  return {
    name: 'latchkey',
    version,
    description: own.description,
    license: own.license,
    type: 'module',
    bin: { latchkey: 'server/bin/latchkey.mjs' },
    engines: { node: '>=18.17' },
    // The workspaces are in the package.
    dependencies: Object.fromEntries(
      dependencies.filter(([name]) => !name.startsWith('@latchkey/')),
    ),
    // Node.js and PostgreSQL.
    optionalDependencies: { ...own.optionalDependencies, ...server.optionalDependencies },
  };
}

/**
 * Creates `npm-shrinkwrap.json`: npm installs exactly the locked packages with it, also those that packages depend on.
 * @param root the repository
 */
export async function createShrinkwrap(root: string, manifest: ServiceManifest): Promise<unknown> {
  const locked = await readLockFile(root);
  const { name, version, license, bin, engines, dependencies, optionalDependencies } = manifest;
  const own = { name, version, license, dependencies, optionalDependencies, bin, engines };
  const packages = Object.keys(optionalDependencies)
    .map((each) => `node_modules/${each}`)
    .concat(listRuntimePackages(locked, 'server'));
  const entries = [...new Set(packages)].sort().map((path) => [path, locked[path]] as const);
  return {
    name,
    version,
    lockfileVersion: 3,
    requires: true,
    packages: { '': own, ...Object.fromEntries(entries) },
  };
}

async function readManifest(root: string, folder: string) {
  return Parse(Manifest, JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8')));
}
