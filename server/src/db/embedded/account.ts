import { execFile } from 'node:child_process';
import type { Stats } from 'node:fs';
import { promisify } from 'node:util';

import { StartupError } from '#server/config/startup-error.ts';

const run = promisify(execFile);

/** An account of the system that PostgreSQL runs under. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** Who runs it when root starts the service and names no account. Every system has `nobody`. */
const USUAL_ACCOUNTS = ['latchkey', 'nobody'];

/**
 * Chooses the account for PostgreSQL, which refuses to run as root. Null: the service's own will do.
 * @param named what the operator asked for
 * @param cluster the existing cluster, whose owner is kept
 * @throws StartupError when the named account is unknown or root
 */
export async function chooseAccount(
  named: string | undefined,
  cluster: Stats | null,
): Promise<Account | null> {
  if (process.getuid?.() !== 0) return null;
  if (named !== undefined) return requireAccount(named);
  if (cluster !== null && cluster.uid !== 0) return { uid: cluster.uid, gid: cluster.gid };
  for (const name of USUAL_ACCOUNTS) {
    const account = await findAccount(name);
    if (account !== null) return account;
  }
  throw new StartupError([
    'PostgreSQL does not run as root and this system has neither an account latchkey nor nobody: name one in LATCHKEY_POSTGRES_USER, or set DATABASE_URL.',
  ]);
}

async function requireAccount(name: string): Promise<Account> {
  const account = await findAccount(name);
  if (account !== null && account.uid !== 0) return account;
  throw new StartupError([
    `LATCHKEY_POSTGRES_USER names ${name}, which ${account === null ? 'is no account of this system' : 'is root, and PostgreSQL does not run as root'}.`,
  ]);
}

/** Asks the system, whose accounts may come from more than /etc/passwd. */
async function findAccount(name: string): Promise<Account | null> {
  try {
    const [user, group] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
    return { uid: Number(user.stdout), gid: Number(group.stdout) };
  } catch {
    // id ends with 1 when it knows no such account.
    return null;
  }
}
