import { readFileSync, statSync } from 'node:fs';

import { RemedyError } from '#server/config/startup-error.ts';
import { codeOf, hasCode, messageOf } from '#server/lib/unknown-values.ts';

import type { ReadPem } from './tls-plan.ts';

/**
 * Reads a certificate or a private key; null: the file does not exist.
 * @throws RemedyError when it cannot be read, or when others may read a key, as in libpq
 */
export const readPem: ReadPem = (path, kind, { setting, isDefault }) => {
  try {
    if (isDefault && isOutOfReach(path)) return null;
    const text = readFileSync(path, 'utf8');
    if (kind === 'key') requirePrivate(path, setting);
    return text;
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return null;
    if (error instanceof RemedyError) throw error;
    const reason = codeOf(error) ?? messageOf(error);
    const problem = `${setting} needs ${path}, which cannot be read (${reason})`;
    const fix = 'let the account of the service read it';
    throw new RemedyError({ problem, fix }, { cause: error });
  }
};

/**
 * Whether the account may not enter the directory, as libpq ignores it for `root.crt`: a worker or a command that root started
 * under another account still has root's home.
 */
function isOutOfReach(path: string): boolean {
  try {
    statSync(path);
    return false;
  } catch (error) {
    return hasCode(error, 'EACCES');
  }
}

/** Root's file may be readable for a group (libpq, "Client Certificates"). */
function requirePrivate(path: string, setting: string): void {
  const { mode, uid } = statSync(path);
  if (process.platform === 'win32' || (mode & (uid === 0 ? 0o037 : 0o077)) === 0) return;
  throw new RemedyError({
    problem: `Others may read ${path}, the private key of ${setting}`,
    fix: `run chmod 0600 ${path}; if root owns it, 0640 is allowed, too`,
  });
}
