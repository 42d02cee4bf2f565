import type { Stats } from 'node:fs';

import { StartupError } from '#server/config/startup-error.ts';

import { createSystemAccount, findAccount, type Account } from './system-accounts.ts';

/** Created when root starts the service, names no account and the system has none of this name. */
const SERVICE_ACCOUNT = 'latchkey';

/**
 * The overflow user id (user_namespaces(7)), by convention the account `nobody`. Daemons of every kind run under it, so any
 * of them could read the database.
 */
const NOBODY_UID = 65_534;

/**
 * Chooses the account that PostgreSQL and the service run under when root starts them: the named one, else the cluster's
 * owner, else `latchkey`, which is created when it is missing. Null when the process is not root's: its own account will do.
 * @param named the operator's choice
 * @param cluster the existing cluster, whose owner is kept unless that is root or `nobody`
 * @throws StartupError when the named account is unknown, root or `nobody`, or none can be created
 */
export async function chooseAccount(
  named: string | null | undefined,
  cluster: Stats | null,
): Promise<Account | null> {
  if (process.getuid?.() !== 0) return null;
  if (typeof named === 'string') return requireAccount(named);
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
