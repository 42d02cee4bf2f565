import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

import { listVariableNames, type Variables } from '#server/config/env.ts';
import type { LoadedConfiguration } from '#server/config/load.ts';
import { StartupError } from '#server/config/startup-error.ts';
import type { Account } from '#server/db/embedded/account.ts';

/**
 * Returns the variables of workers that run under another account than the one that started the service: what only root can
 * read (`.env`, files of secrets, the data directory) as values, paths as absolute ones.
 * @param variables those of this process and of `.env`
 */
export function describeForAccount(
  { config, secrets }: LoadedConfiguration,
  variables: Variables,
): Variables {
  return {
    ...variables,
    ...readSecretFiles(variables),
    LATCHKEY_SECRET: secrets.master,
    LATCHKEY_PREVIOUS_SECRETS: secrets.previousMasters.join(','),
    LATCHKEY_CATALOG: config.catalogPath,
    LATCHKEY_DATA_DIR: config.dataDirectory,
  };
}

/** Returns the secrets in files, and each variable of such a file as blank: workers inherit it, and both must not be set. */
function readSecretFiles(variables: Variables): Variables {
  const values: Record<string, string> = {};
  const known = new Set(listVariableNames());
  for (const [name, value = ''] of Object.entries(variables)) {
    const path = value.trim();
    if (!name.endsWith('_FILE') || !known.has(name) || path === '') continue;
    values[name.slice(0, -'_FILE'.length)] = readFileSync(path, 'utf8').trim();
    values[name] = '';
  }
  return values;
}

const CHECK = 'test -r "$1" && test -x "$2"';

/**
 * Checks that the account of the workers can read the program, because they load it after root was dropped.
 * @throws StartupError when it cannot
 */
export async function requireReadable(program: string, { uid, gid }: Account): Promise<void> {
  try {
    const args = ['-c', CHECK, 'sh', program, process.execPath];
    await promisify(execFile)('/bin/sh', args, { uid, gid, cwd: '/' });
  } catch (error) {
    const sentence = `The account of the service (uid ${uid}) cannot read ${program}, which its workers load: move the installation to a directory that it can enter, such as /opt/latchkey, or start Latchkey without --workers.`;
    throw new StartupError([sentence], { cause: error });
  }
}
