import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** What the signature is for, so that none for another purpose counts; install.sh names the same. */
export const SIGNATURE_NAMESPACE = 'latchkey-agent-package';

const NO_SIGNER = "SIGNER=''\n";

/**
 * Returns install.sh with the public key that packages are signed with.
 * @param script the path of install.sh
 * @param key the path of the private key, or of the public one
 */
export async function embedSigner(script: string, key: string): Promise<string> {
  const text = await readFile(script, 'utf8');
  if (!text.includes(NO_SIGNER)) throw new Error(`${script} has no place for a key.`);
  const path = key.endsWith('.pub') ? key : `${key}.pub`;
  const [type = '', data = ''] = (await readFile(path, 'utf8')).trim().split(' ');
  return text.replace(NO_SIGNER, `SIGNER='${type} ${data}'\n`);
}

/**
 * Signs a file with an SSH key (`ssh-keygen -Y sign`), into a file beside it that ends in `.sig`. The key lies outside of the
 * repository, or in an agent of SSH that has the public key's other half.
 * @param path the file
 * @param key the path of the private key, or of the public one where an agent of SSH signs
 * @returns the name of the signature's file
 * @throws Error when ssh-keygen is missing or cannot use the key
 */
export async function signPackage(path: string, key: string): Promise<string> {
  // ssh-keygen asks before it replaces one.
  await rm(`${path}.sig`, { force: true });
  await run('ssh-keygen', [
    '-q',
    '-Y',
    'sign',
    '-f',
    resolve(key),
    '-n',
    SIGNATURE_NAMESPACE,
    path,
  ]);
  return `${basename(path)}.sig`;
}
