/** The checksums of a release, and their signature. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';

import { readPublicKey, signFile } from '../package/sign-package.ts';
import { ReleaseError } from './release-error.ts';

/** The public key of releases, in the repository. */
export const PUBLIC_KEY_FILE = 'release-key.pub';

/** The namespace of the signature of `SHA256SUMS`. */
export const RELEASE_NAMESPACE = 'latchkey-release';

/** Returns a line of `sha256sum`. */
export function renderSum(name: string, content: Buffer): string {
  return `${createHash('sha256').update(content).digest('hex')}  ${name}\n`;
}

/**
 * Returns the first line of `SHA256SUMS`, a comment for `sha256sum --check`. The signature covers it, so that the files of an older
 * release cannot be offered as this one, although some of their names have no version.
 */
export function renderHeading(version: string): string {
  return `# Latchkey ${version}\n`;
}

/** @returns the name of the signature file */
export function signSums(path: string, key: string): Promise<string> {
  return signFile(path, key, RELEASE_NAMESPACE);
}

/**
 * Checks that a key is the one in the repository, by which others verify the release. Its public half is read, which needs no
 * passphrase.
 * @param root the repository
 * @param key the path of the private key, or of the public one if an SSH agent signs
 * @throws ReleaseError when it is another one, or its public half cannot be read
 */
export async function requireReleaseKey(root: string, key: string): Promise<void> {
  const own = await readPublicKey(key).catch(() => {
    throw new ReleaseError(`The public half of ${key} cannot be read: keep it beside it, as .pub.`);
  });
  if (own === (await readPublicKey(join(root, PUBLIC_KEY_FILE)))) return;
  throw new ReleaseError(
    `${key} is not the key of ${PUBLIC_KEY_FILE}, by which others verify the release.`,
  );
}
