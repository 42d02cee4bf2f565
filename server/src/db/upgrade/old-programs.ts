import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

import { StartupError } from '#server/config/startup-error.ts';
import { messageOf } from '#server/lib/unknown-values.ts';

import type { Account } from '../embedded/account.ts';
import { findBinaries, findPackage, type Binaries } from '../embedded/binaries.ts';

const run = promisify(execFile);

/** Where to look for the programs of an earlier PostgreSQL. */
export interface SearchOptions {
  /** The account that runs them; null for that of this process. */
  readonly account: Account | null;
  readonly dataDirectory: string;
  /** The directory that the operator names; null: search. */
  readonly directory: string | null;
}

/**
 * Finds the programs of an earlier major version: in a directory that the operator names, beside this version's in the
 * package of Latchkey, or where Debian's packages have them.
 * @throws StartupError with what to install when there are none, or they do not run
 */
export async function findOldPrograms(major: string, options: SearchOptions): Promise<Binaries> {
  const { account, dataDirectory, directory } = options;
  if (directory !== null) return requirePrograms(major, resolve(directory), account);
  const root = findPackage(major);
  if (root !== null) return findBinaries(account, dataDirectory, root);
  const installed = `/usr/lib/postgresql/${major}/bin`;
  if (existsSync(join(installed, 'postgres'))) return requirePrograms(major, installed, account);
  throw new StartupError([
    `The programs of PostgreSQL ${major}, which read the old data, were not found: install Debian's package postgresql-${major}, or name a directory that has them with --old-binaries.`,
  ]);
}

async function requirePrograms(
  major: string,
  directory: string,
  account: Account | null,
): Promise<Binaries> {
  const inside = join(directory, 'bin');
  const home = existsSync(join(inside, 'postgres')) ? inside : directory;
  const postgres = join(home, 'postgres');
  const found = await readProgramMajor(postgres, account);
  if (found === major) return { initdb: join(home, 'initdb'), postgres, major };
  throw new StartupError([
    `${postgres} is of PostgreSQL ${found}, and the data is of PostgreSQL ${major}: name a directory with its programs in --old-binaries.`,
  ]);
}

async function readProgramMajor(postgres: string, account: Account | null): Promise<string> {
  try {
    const { stdout } = await run(postgres, ['--version'], { ...account, cwd: '/', env: {} });
    return /^postgres \(PostgreSQL\) (\d+)/u.exec(stdout)?.[1] ?? 'an unknown version';
  } catch (error) {
    const reason = messageOf(error).split('\n', 1).join('');
    throw new StartupError([`${postgres} does not run (${reason}): install it again.`], {
      cause: error,
    });
  }
}
