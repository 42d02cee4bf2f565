import { rm, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';

/**
 * The library of Debian's package libnss-wrapper, by its name, so that the loader finds it in its directories. It lets a program read
 * accounts from a file of its own (nss_wrapper(1)).
 */
const LIBRARY = 'libnss_wrapper.so';

/** Variables that give the account of this process a name, in a program that it starts. */
export interface AccountName extends AsyncDisposable {
  readonly variables: Readonly<Record<string, string>>;
}

/**
 * Names the account of this process for `initdb`, which fails for a user id without a name: OpenShift, and `runAsUser` of Kubernetes,
 * run a container under an id that its image does not know. A PostgreSQL that is created needs no name.
 * @param path of a file that exists until the result is disposed
 */
export async function nameAccount(path: string): Promise<AccountName> {
  if (hasName()) return { variables: {}, [Symbol.asyncDispose]: async () => undefined };
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  await writeFile(path, `latchkey:x:${uid}:${gid}::/:/usr/sbin/nologin\n`, { mode: 0o600 });
  // The group file is required, and nothing reads it.
  const variables = {
    LD_PRELOAD: LIBRARY,
    NSS_WRAPPER_PASSWD: path,
    NSS_WRAPPER_GROUP: '/dev/null',
  };
  return { variables, [Symbol.asyncDispose]: async () => rm(path, { force: true }) };
}

function hasName(): boolean {
  try {
    return userInfo().username !== '';
  } catch {
    // The id has no entry in the system's list of accounts.
    return false;
  }
}
