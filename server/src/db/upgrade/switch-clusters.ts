import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { clusterDirectory } from '#server/config/data-directory.ts';

import { syncDirectory } from '../embedded/cluster.ts';
import {
  journalPath,
  readInterruptedUpgrade,
  upgradeDirectory,
  type UpgradeJournal,
} from '../embedded/interrupted-upgrade.ts';
import { stopOrphan } from '../embedded/postmaster.ts';
import type { EmbeddedPostgresLog } from '../embedded/server-log.ts';

/** Creates the empty directory of a new attempt, and removes what an interrupted one has left. */
export async function beginAttempt(
  dataDirectory: string,
  log: EmbeddedPostgresLog,
): Promise<string> {
  await discardAttempt(dataDirectory, log);
  const directory = upgradeDirectory(dataDirectory);
  await mkdir(directory, { mode: 0o700 });
  return directory;
}

/**
 * Removes the directory of an attempt, and stops its server if one is left of a killed command. The journal is removed
 * first, because it would otherwise name an incomplete cluster.
 */
export async function discardAttempt(
  dataDirectory: string,
  log: EmbeddedPostgresLog,
): Promise<void> {
  const directory = upgradeDirectory(dataDirectory);
  await rm(journalPath(dataDirectory), { force: true });
  await stopOrphan(clusterDirectory(directory), log);
  // The initdb of a killed command may still be writing.
  await rm(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}

/**
 * Puts the new cluster in the place of the old one, which gets another name. After an interruption at any step, either the
 * old cluster is still in its place, or {@link completeSwitch} continues.
 */
export async function switchClusters(
  dataDirectory: string,
  journal: UpgradeJournal,
  log: EmbeddedPostgresLog,
): Promise<void> {
  await writeJournal(dataDirectory, journal);
  await rename(clusterDirectory(dataDirectory), join(dataDirectory, journal.kept));
  await syncDirectory(dataDirectory);
  await moveNewCluster(dataDirectory, log);
}

/**
 * Completes a switch that was interrupted between its two renames.
 * @returns its journal; null when none was interrupted
 */
export async function completeSwitch(
  dataDirectory: string,
  log: EmbeddedPostgresLog,
): Promise<UpgradeJournal | null> {
  const journal = await readInterruptedUpgrade(dataDirectory);
  if (journal !== null) await moveNewCluster(dataDirectory, log);
  return journal;
}

async function moveNewCluster(dataDirectory: string, log: EmbeddedPostgresLog): Promise<void> {
  const created = clusterDirectory(upgradeDirectory(dataDirectory));
  await rename(created, clusterDirectory(dataDirectory));
  await syncDirectory(dataDirectory);
  await discardAttempt(dataDirectory, log);
}

async function writeJournal(dataDirectory: string, journal: UpgradeJournal): Promise<void> {
  const path = journalPath(dataDirectory);
  const file = await open(`${path}.new`, 'w', 0o600);
  try {
    await file.writeFile(JSON.stringify(journal));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
  await syncDirectory(upgradeDirectory(dataDirectory));
}
