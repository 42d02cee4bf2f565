import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The namespace of the signature, so that signatures for other purposes are invalid; the same as in install.sh. */
export const SIGNATURE_NAMESPACE = 'latchkey-agent-package';

const NO_SIGNER = "SIGNER=''\n";

/**
 * Returns install.sh with the public key of the signer.
 * @param script the path of install.sh
 * @param key the path of the private key, or of the public one
 */
export async function embedSigner(script: string, key: string): Promise<string> {
  const text = await readFile(script, 'utf8');
  if (!text.includes(NO_SIGNER)) throw new Error(`${script} has no line for the key.`);
  const path = key.endsWith('.pub') ? key : `${key}.pub`;
  const [type = '', data = ''] = (await readFile(path, 'utf8')).trim().split(' ');
  return text.replace(NO_SIGNER, `SIGNER='${type} ${data}'\n`);
}

/**
 * Signs a package for install.sh.
 * @returns the name of the signature file
 */
export function signPackage(path: string, key: string): Promise<string> {
  return signFile(path, key, SIGNATURE_NAMESPACE);
}

/**
 * Signs a file with an SSH key (`ssh-keygen -Y sign`), to a file with the suffix `.sig` beside it. The private key is outside of the
 * repository, or in an SSH agent.
 * @param path the file
 * @param key the path of the private key, or of the public one if an SSH agent signs
 * @param namespace the purpose of the signature
 * @returns the name of the signature file
 * @throws Error when ssh-keygen is missing or cannot use the key
 */
export async function signFile(path: string, key: string, namespace: string): Promise<string> {
  // ssh-keygen asks before it replaces one.
  await rm(`${path}.sig`, { force: true });
  await run('ssh-keygen', ['-q', '-Y', 'sign', '-f', resolve(key), '-n', namespace, path]);
  return `${basename(path)}.sig`;
}
