import { execFile } from 'node:child_process';
import type { Stats } from 'node:fs';
import { promisify } from 'node:util';

import { StartupError } from '#server/config/startup-error.ts';

const run = promisify(execFile);

/** An account of the operating system. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** Created when root starts the service, configures no account and the system has none of this name. */
const SERVICE_ACCOUNT = 'latchkey';

/**
 * The overflow user id (user_namespaces(7)), by convention the account `nobody`. Daemons of every kind run under it, so any
 * of them could read the database.
 */
const NOBODY_UID = 65_534;

/**
 * Chooses the account for PostgreSQL and the service when root starts them: the configured one, else the cluster's owner,
 * else `latchkey`, which is created if it is missing. Returns null if this process does not run as root.
 * @param configured the name in LATCHKEY_POSTGRES_USER
 * @param cluster the existing cluster; its owner is used unless that is root or `nobody`
 * @throws StartupError when the configured account is unknown, root or `nobody`, or none can be created
 */
export async function chooseAccount(
  configured: string | null | undefined,
  cluster: Stats | null,
): Promise<Account | null> {
  if (process.getuid?.() !== 0) return null;
  if (typeof configured === 'string') return requireAccount(configured);
  if (cluster !== null && cluster.uid !== 0 && cluster.uid !== NOBODY_UID) {
    return { uid: cluster.uid, gid: cluster.gid };
  }
  const account =
    (await findAccount(SERVICE_ACCOUNT)) ?? (await createSystemAccount(SERVICE_ACCOUNT));
  if (account !== null) return account;
  throw new StartupError([
    `Latchkey does not run as root, and the system account ${SERVICE_ACCOUNT} could not be created: create it, name another account in LATCHKEY_POSTGRES_USER, or start Latchkey as an ordinary user.`,
  ]);
}

async function requireAccount(name: string): Promise<Account> {
  const account = await findAccount(name);
  const problem = findProblem(account);
  if (account !== null && problem === null) return account;
  throw new StartupError([`LATCHKEY_POSTGRES_USER names ${name}, which ${problem}.`]);
}

function findProblem(account: Account | null): string | null {
  if (account === null) return 'is no account of this system';
  if (account.uid === 0) return 'is root, and PostgreSQL does not run as root';
  if (account.uid !== NOBODY_UID) return null;
  return 'other programs run under, too: name an account that only Latchkey uses';
}

/** Looks an account up with id(1), since accounts may be defined outside /etc/passwd; null if it does not exist. */
export async function findAccount(name: string): Promise<Account | null> {
  try {
    const [user, group] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
    return { uid: Number(user.stdout), gid: Number(group.stdout) };
  } catch {
    // id exits with 1 for an unknown account.
    return null;
  }
}

/** Without home, shell or password: useradd(8) of most distributions, and adduser of BusyBox (Alpine). */
const CREATE_COMMANDS: readonly (readonly [string, ...string[]])[] = [
  [
    'useradd',
    '--system',
    '--user-group',
    '--no-create-home',
    '--home-dir',
    '/nonexistent',
    '--shell',
    '/usr/sbin/nologin',
  ],
  ['adduser', '-S', '-D', '-H', '-h', '/nonexistent', '-s', '/sbin/nologin'],
];

/**
 * Creates a system account, which only root may. Concurrent processes get the same account.
 * @returns null when the system has no command for it, or forbids it
 */
async function createSystemAccount(name: string): Promise<Account | null> {
  for (const [command, ...args] of CREATE_COMMANDS) {
    try {
      await run(command, [...args, name]);
    } catch {
      // The command is missing, or another process created the account: the look-up decides.
    }
    const account = await findAccount(name);
    if (account !== null) return account;
  }
  return null;
}
