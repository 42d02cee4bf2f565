import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { basename, resolve } from 'node:path';

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
  return text.replace(NO_SIGNER, `SIGNER='${await readPublicKey(key)}'\n`);
}

/**
 * Returns type and data of a public key, without the comment.
 * @param key its path, or that of the private key that it lies beside
 */
export async function readPublicKey(key: string): Promise<string> {
  const path = key.endsWith('.pub') ? key : `${key}.pub`;
  const [type = '', data = ''] = (await readFile(path, 'utf8')).trim().split(' ');
  return `${type} ${data}`;
}

/**
 * Signs the manifest of a package for install.sh.
 * @param path the package, with its manifest beside it
 * @returns the name of the signature file
 */
export function signPackage(path: string, key: string): Promise<string> {
  return signFile(`${path}.manifest`, key, SIGNATURE_NAMESPACE);
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
  const args = ['-q', '-Y', 'sign', '-f', resolve(key), '-n', namespace, path];
  // With the terminal of the caller, it asks there for a passphrase.
  const signing = spawn('ssh-keygen', args, { stdio: ['inherit', 'ignore', 'inherit'] });
  const [code]: unknown[] = await once(signing, 'close');
  if (code !== 0) throw new Error(`ssh-keygen could not sign ${path} with ${key}.`);
  return `${basename(path)}.sig`;
}
