/** The checksums of a release, and their signature. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

import { signFile } from '../package/sign-package.ts';
import { ReleaseError } from './release-error.ts';

const run = promisify(execFile);

/** The public key of releases, in the repository. */
export const PUBLIC_KEY_FILE = 'release-key.pub';

/** The namespace of the signature of `SHA256SUMS`. */
export const RELEASE_NAMESPACE = 'latchkey-release';

/** Returns a line of `sha256sum`. */
export function renderSum(name: string, content: Buffer): string {
  return `${createHash('sha256').update(content).digest('hex')}  ${name}\n`;
}

/** @returns the name of the signature file */
export function signSums(path: string, key: string): Promise<string> {
  return signFile(path, key, RELEASE_NAMESPACE);
}

/**
 * Checks that a private key belongs to the public key in the repository, by which others verify the release.
 * @param root the repository
 * @param key the path of the private key
 * @throws ReleaseError when it does not, or cannot be read
 */
export async function requireReleaseKey(root: string, key: string): Promise<void> {
  const { stdout } = await run('ssh-keygen', ['-y', '-f', resolve(key)]).catch(() => {
    throw new ReleaseError(`${key} is not a private key that ssh-keygen can read.`);
  });
  const published = await readFile(join(root, PUBLIC_KEY_FILE), 'utf8');
  if (identify(stdout) === identify(published)) return;
  throw new ReleaseError(
    `${key} is not the key of ${PUBLIC_KEY_FILE}, by which others verify the release.`,
  );
}

/** Type and key, without the comment. */
function identify(publicKey: string): string {
  return publicKey.trim().split(' ').slice(0, 2).join(' ');
}
