import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The processors for which the agent is packaged. */
export const ARCHITECTURES = ['x64', 'arm64'] as const;
export type Architecture = (typeof ARCHITECTURES)[number];

/**
 * Returns the folder of the npm package with Node.js for Linux on a processor. npm installs the one of this machine; the other
 * is downloaded once, in the version and with the SHA-512 of the lock file.
 * @param root the repository
 * @throws Error when npm cannot download it, or its checksum differs from the lock file
 */
export async function findPackedNode(root: string, arch: Architecture): Promise<string> {
  const name = `node-linux-${arch}`;
  const { version, integrity } = await readLocked(root, name);
  const installed = join(root, 'node_modules', name);
  if (await isVersion(installed, version)) return installed;
  const cache = join(root, 'node_modules', '.cache', 'latchkey-agent-package');
  const folder = join(cache, `${name}-${version}`);
  if (!existsSync(folder)) await download(cache, folder, `${name}@${version}`, integrity);
  return folder;
}

async function readLocked(root: string, name: string) {
  const lock: unknown = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'));
  const { version, integrity } = readFields(
    readFields(readFields(lock)['packages'])[`node_modules/${name}`],
  );
  if (typeof version === 'string' && typeof integrity === 'string') return { version, integrity };
  throw new Error(`package-lock.json does not contain ${name}.`);
}

async function isVersion(folder: string, version: string): Promise<boolean> {
  if (!existsSync(join(folder, 'bin', 'node'))) return false;
  const description: unknown = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  return readFields(description)['version'] === version;
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
      throw new Error(
        `${specifier} does not match package-lock.json: its checksum is sha512-${digest}.`,
      );
    }
    await run('tar', ['-xzf', archive, '-C', scratch, '--no-same-owner']);
    // Renamed when complete, so that the final name never has a partial file.
    await rename(join(scratch, 'package'), folder);
  } finally {
    await rm(scratch, { recursive: true });
  }
}

function readFields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value))
    : {};
}
