import { lstat, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { clusterDirectory } from '#server/config/data-directory.ts';
import { StartupError } from '#server/config/startup-error.ts';

import { chooseAccount, type Account } from '../embedded/account.ts';
import { findBinaries, type Binaries } from '../embedded/binaries.ts';
import {
  inspectCluster,
  newerCluster,
  noCluster,
  isNewer,
  readMajor,
} from '../embedded/cluster.ts';
import { readFreeSpace } from '../embedded/disk-space.ts';
import { readInterruptedUpgrade, upgradeDirectory } from '../embedded/interrupted-upgrade.ts';
import { measureCluster, measureDirectory } from './measure.ts';
import { findOldPrograms } from './old-programs.ts';

/** Which database is upgraded, and with what. */
export interface UpgradeSource {
  readonly dataDirectory: string;
  /** The account in LATCHKEY_POSTGRES_USER; null: none is set. */
  readonly account: string | null;
  /** The directory of --old-binaries; null: it was not given. */
  readonly oldBinaries: string | null;
}

/** What an upgrade will do. Sizes are in bytes; that of the database does not contain its write-ahead log. */
export interface UpgradePlan {
  readonly from: string;
  readonly to: string;
  readonly account: Account | null;
  readonly oldPrograms: Binaries;
  readonly newPrograms: Binaries;
  readonly size: number;
  readonly needed: number;
  readonly free: number;
}

/** What there is to upgrade; `none`: no database, `current`: it has this version's major. */
export type Situation =
  | { readonly kind: 'none' }
  | { readonly kind: 'current'; readonly major: string }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'old'; readonly plan: UpgradePlan };

const MIB = 1_048_576;

/** For the write-ahead log of the new cluster, of which 256 MiB were measured; below it, the service refuses events. */
const SPARE_BYTES = 512 * MIB;

/**
 * Reads what there is to upgrade, and changes nothing.
 * @throws StartupError for a newer database, another directory, or when the old programs are missing
 */
export async function inspectUpgrade(source: UpgradeSource): Promise<Situation> {
  const { dataDirectory } = source;
  const directory = clusterDirectory(dataDirectory);
  if ((await readInterruptedUpgrade(dataDirectory)) !== null) return { kind: 'interrupted' };
  const found = await inspectCluster(directory);
  if (found === null) return { kind: 'none' };
  const account = await chooseAccount(source.account, found);
  const newPrograms = await findBinaries(account, dataDirectory);
  const { major } = newPrograms;
  const from = await readMajor(directory);
  if (from === null) throw noCluster(directory);
  if (isNewer(from, major)) throw newerCluster(directory, from, major);
  if (from === major) return { kind: 'current', major };
  await requireMovable(directory, dataDirectory);
  const oldPrograms = await findOldPrograms(from, {
    account,
    dataDirectory,
    directory: source.oldBinaries,
  });
  const programs = { from, to: major, account, oldPrograms, newPrograms };
  return { kind: 'old', plan: { ...programs, ...(await measure(dataDirectory)) } };
}

/** @throws StartupError when the cluster cannot be renamed within its data directory */
async function requireMovable(directory: string, dataDirectory: string): Promise<void> {
  const [cluster, parent] = [await lstat(directory), await stat(dataDirectory)];
  if (cluster.isDirectory() && cluster.dev === parent.dev) return;
  throw new StartupError([
    `${directory} is a link or a mount point, and an upgrade replaces the directory: move the data to ${dataDirectory} itself, or name the parent directory of the data in LATCHKEY_DATA_DIR.`,
  ]);
}

/** @throws StartupError when the disk is too small */
export function requireSpace({ needed, free }: UpgradePlan): void {
  if (free >= needed) return;
  const [neededMib, freeMib] = [Math.ceil(needed / MIB), Math.floor(free / MIB)];
  throw new StartupError([
    `The upgrade needs ${neededMib} MiB of disk space, and ${freeMib} MiB are free: free space, and repeat the command. Nothing was changed.`,
  ]);
}

/** What an interrupted attempt has left is removed first, so its space counts as free. */
async function measure(dataDirectory: string) {
  const size = await measureCluster(clusterDirectory(dataDirectory));
  const left = await measureDirectory(upgradeDirectory(dataDirectory));
  const free = (await readFreeSpace(dataDirectory)) * MIB + left;
  return { size, needed: size + SPARE_BYTES, free };
}

/** Returns a name for the old cluster that no other one has. @param now the date of the upgrade, in UTC */
export async function chooseKeptName(
  dataDirectory: string,
  major: string,
  now: Date,
): Promise<string> {
  const name = `postgres-${major}-${now.toISOString().slice(0, 10)}`;
  for (let number = 1; ; number += 1) {
    const candidate = number === 1 ? name : `${name}.${number}`;
    const isTaken = await stat(join(dataDirectory, candidate)).then(
      () => true,
      () => false,
    );
    if (!isTaken) return candidate;
  }
}
