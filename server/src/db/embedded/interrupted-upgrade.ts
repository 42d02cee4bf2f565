import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { Type, type Static } from 'typebox';
import { Parse } from 'typebox/schema';

import { clusterDirectory } from '#server/config/data-directory.ts';
import { StartupError } from '#server/config/startup-error.ts';
import { hasCode } from '#server/lib/unknown-values.ts';

const Journal = Type.Object({
  /** The major versions. */
  from: Type.String({ pattern: '^\\d{1,3}$' }),
  to: Type.String({ pattern: '^\\d{1,3}$' }),
  /** The name, in the data directory, that the old cluster gets. */
  kept: Type.String({ pattern: '^postgres-\\d{1,3}-\\d{4}-\\d{2}-\\d{2}(?:\\.\\d{1,3})?$' }),
});

/** Written when the new cluster is complete, before the first rename. */
export type UpgradeJournal = Readonly<Static<typeof Journal>>;

/** Returns the directory in which an upgrade creates the new cluster: a data directory inside the data directory. */
export function upgradeDirectory(dataDirectory: string): string {
  return join(dataDirectory, 'upgrade');
}

export function journalPath(dataDirectory: string): string {
  return join(upgradeDirectory(dataDirectory), 'journal.json');
}

/**
 * Returns the journal of an upgrade that was interrupted between its two renames: the old cluster has its new name, and the
 * new one has not. Null in every other case.
 */
export async function readInterruptedUpgrade(
  dataDirectory: string,
): Promise<UpgradeJournal | null> {
  const journal = await readJournal(dataDirectory);
  if (journal === null || isCluster(clusterDirectory(dataDirectory))) return null;
  const isSwitching =
    isCluster(join(dataDirectory, journal.kept)) &&
    isCluster(clusterDirectory(upgradeDirectory(dataDirectory)));
  return isSwitching ? journal : null;
}

function isCluster(directory: string): boolean {
  return existsSync(join(directory, 'PG_VERSION'));
}

async function readJournal(dataDirectory: string): Promise<UpgradeJournal | null> {
  try {
    return Parse(Journal, JSON.parse(await readFile(journalPath(dataDirectory), 'utf8')));
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

/**
 * Checks that a missing cluster is not that of an interrupted upgrade: an empty one must not take its place.
 * @throws StartupError with the command that completes the upgrade
 */
export async function requireNoInterruptedUpgrade(dataDirectory: string): Promise<void> {
  const journal = await readInterruptedUpgrade(dataDirectory);
  if (journal === null) return;
  throw new StartupError([
    `The upgrade of the database in ${dataDirectory} to PostgreSQL ${journal.to} was interrupted: run "latchkey upgrade-database" again to complete it.`,
  ]);
}
