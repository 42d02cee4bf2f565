import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** An account of the operating system. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** Asks the system, whose accounts may come from more than /etc/passwd. Null when there is none of this name. */
export async function findAccount(name: string): Promise<Account | null> {
  try {
    const [user, group] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
    return { uid: Number(user.stdout), gid: Number(group.stdout) };
  } catch {
    // id ends with 1 when it knows no such account.
    return null;
  }
}

/** Without home, shell or password: useradd(8) of most distributions, and adduser of BusyBox (Alpine). */
const COMMANDS = (name: string): readonly (readonly [string, ...string[]])[] => [
  [
    'useradd',
    '--system',
    '--user-group',
    '--no-create-home',
    '--home-dir',
    '/nonexistent',
    '--shell',
    '/usr/sbin/nologin',
    name,
  ],
  ['adduser', '-S', '-D', '-H', '-h', '/nonexistent', '-s', '/sbin/nologin', name],
];

/**
 * Creates a system account, which only root may. Processes that do so at once end with the same account.
 * @returns null when the system offers no way to create one, or forbids it
 */
export async function createSystemAccount(name: string): Promise<Account | null> {
  for (const [command, ...args] of COMMANDS(name)) {
    try {
      await run(command, args);
    } catch {
      // The command is missing, or another process has just created the account: the look-up decides.
    }
    const account = await findAccount(name);
    if (account !== null) return account;
  }
  return null;
}
