import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { lchown, mkdtemp, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

import { StartupError } from '#server/config/startup-error.ts';

import type { Account } from './system-accounts.ts';
import type { Binaries } from './binaries.ts';
import { openForChild } from './directory-handle.ts';
import { initialSettings, readMemoryBytes, toArguments } from './settings.ts';

/** Everything in the cluster belongs to this role, which is no account of the system. */
export const DATABASE_USER = 'latchkey';

/** What is made beside its place until it is whole begins so. */
const STAGING_PREFIX = 'postgres.new-';

const INITDB_OPTIONS = [
  `--username=${DATABASE_USER}`,
  '--encoding=UTF8',
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--data-checksums',
  // The socket is in a directory that only the cluster's owner may enter, an account that no other program uses.
  '--auth-local=trust',
  '--auth-host=reject',
  '--no-instructions',
];

/**
 * Makes a cluster: UTF-8, sorted by code point on every system alike, with data checksums. It is made beside its place
 * and moved there when it is whole, so that an interrupted attempt leaves nothing which looks like a cluster.
 * @param durable whether it must survive a loss of power
 */
export async function createCluster(
  directory: string,
  binaries: Binaries,
  account: Account | null,
  durable: boolean,
): Promise<void> {
  const parent = join(directory, '..');
  await removeInterruptedAttempts(parent);
  const staging = await mkdtemp(join(parent, STAGING_PREFIX));
  try {
    if (account !== null) await lchown(staging, account.uid, account.gid);
    await runInitdb(staging, binaries, account, durable);
    await rename(staging, directory);
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    throw error;
  }
  await syncDirectory(parent);
}

async function removeInterruptedAttempts(parent: string): Promise<void> {
  for (const entry of await readdir(parent)) {
    if (!entry.startsWith(STAGING_PREFIX)) continue;
    await rm(join(parent, entry), { recursive: true, force: true, maxRetries: 5 });
  }
}

async function runInitdb(
  directory: string,
  binaries: Binaries,
  account: Account | null,
  durable: boolean,
): Promise<void> {
  const target = openForChild(directory, account);
  try {
    const settings = toArguments(initialSettings(readMemoryBytes()));
    const args = [`--pgdata=${target.path}`, ...INITDB_OPTIONS, ...settings];
    if (!durable) args.push('--no-sync');
    // Out of reach of the terminal's signals: this process decides whether it goes on.
    const child = spawn(binaries.initdb, args, {
      ...account,
      cwd: '/',
      detached: true,
      env: { PATH: process.env['PATH'] },
      stdio: ['ignore', 'ignore', 'pipe', ...target.extraStdio],
    });
    if (child.stderr === null) throw new TypeError('initdb was started without a pipe');
    const [complaints, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    if (code !== 0) throw initdbFailed(directory, complaints);
  } finally {
    target.close();
  }
}

function initdbFailed(directory: string, complaints: string): StartupError {
  const reason = complaints.split('\n').find((line) => line.includes('error:')) ?? complaints;
  return new StartupError(
    [`No database could be made in ${join(directory, '..')}: ${reason.trim().slice(0, 300)}.`],
    { cause: new Error(complaints) },
  );
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
