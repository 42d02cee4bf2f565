/** The service as it is packed, and the same as a later release with one more migration. */
import { execFile } from 'node:child_process';
import { chmod, cp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { repository } from '../../lib/steps.ts';
import { collectServiceTree } from '../../package/service/service-tree.ts';
import { writeTree } from '../../package/write-tree.ts';
import { readVersion } from '../version.ts';

const execute = promisify(execFile);

/** The processor of this machine. */
export const arch = process.arch === 'arm64' ? 'arm64' : 'x64';

export const NEXT_VERSION = '99.0.0';

const MIGRATIONS = 'server/src/db/migrations';

/** What a release may add: the previous version neither reads nor writes it. */
const NEXT_MIGRATION = `
alter table licenses add column next_release text not null default 'added';
alter table activations add column next_release text;
create table next_release (license_id uuid not null primary key);
insert into next_release select id from licenses;
`;

/** Parts of a package that no release of a test changes, and that are large. */
const SHARED = ['bin', 'node_modules'];

/** Writes the package of this release; an existing directory is replaced. */
export async function writePresentPackage(directory: string): Promise<void> {
  const version = await readVersion(repository);
  const { entries } = await collectServiceTree(repository, version, arch);
  await writeTree(directory, entries);
}

/**
 * Writes the package of an invented next release beside that of this one, whose Node.js and packages it uses.
 * @returns the name of its migration
 */
export async function writeNextPackage(present: string, directory: string): Promise<string> {
  const filter = (path: string): boolean => !SHARED.some((each) => path === join(present, each));
  await cp(present, directory, { recursive: true, filter });
  for (const each of SHARED) await symlink(join(present, each), join(directory, each));
  return changeToNextRelease(directory);
}

/**
 * Changes the files of this release to those of an invented next one.
 * @returns the name of its migration
 */
export async function changeToNextRelease(directory: string): Promise<string> {
  const manifest = join(directory, 'server/package.json');
  const described: unknown = JSON.parse(await readFile(manifest, 'utf8'));
  await writeFile(manifest, JSON.stringify({ ...Object(described), version: NEXT_VERSION }));
  const migrations = join(directory, MIGRATIONS);
  const last = (await readdir(migrations)).sort().at(-1) ?? '';
  const name = `${String(Number.parseInt(last, 10) + 1).padStart(4, '0')}_next_release`;
  await writeFile(join(migrations, `${name}.sql`), NEXT_MIGRATION);
  return name;
}

/** The two packages, in a directory of their own. */
export interface ServicePackages extends AsyncDisposable {
  readonly present: string;
  readonly next: string;
  /** The migration that only the next release has. */
  readonly migration: string;
}

/** Writes both packages below a directory, which a service that dropped root can read. */
export async function writePackages(directory: string): Promise<ServicePackages> {
  const [present, next] = [join(directory, 'present'), join(directory, 'next')];
  await writePresentPackage(present);
  await chmod(directory, 0o755);
  return {
    present,
    next,
    migration: await writeNextPackage(present, next),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
}

/** The program of a package, which Node.js runs. */
export const programOf = (tree: string): string => join(tree, 'server/src/main.js');

/**
 * Runs a command of a package.
 * @param settings the whole environment, beside the PATH
 * @returns standard output
 * @throws Error with standard error when it fails
 */
export async function runPackage(
  tree: string,
  args: readonly string[],
  settings: Readonly<Record<string, string>>,
  directory = tree,
): Promise<string> {
  const env = { PATH: process.env['PATH'], ...settings };
  const command = [programOf(tree), ...args];
  return (await execute(join(tree, 'bin/node'), command, { cwd: directory, env })).stdout;
}
