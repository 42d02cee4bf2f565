import { join } from 'node:path';

import type { Pool } from 'pg';

import type { Logger } from '#server/log.ts';

import { copyDatabase } from '../backup/copy-database.ts';
import type { Restored, RestoreOptions } from '../backup/restore-backup.ts';
import { listPresentTables } from '../backup/tables.ts';
import type { BackupOptions } from '../backup/write-backup.ts';
import { readFreeSpace } from '../embedded/disk-space.ts';
import { lockDataDirectory } from '../embedded/owner-lock.ts';
import { startInLockedDirectory, type EmbeddedPostgresOptions } from '../embedded/start.ts';
import { createPool } from '../pool.ts';
import { carrySettings } from './carry-settings.ts';
import { listOwnObjects } from './own-objects.ts';
import {
  chooseKeptName,
  inspectUpgrade,
  requireSpace,
  type Situation,
  type UpgradePlan,
  type UpgradeSource,
} from './plan.ts';
import { beginAttempt, completeSwitch, discardAttempt, switchClusters } from './switch-clusters.ts';

export interface UpgradeOptions
  extends UpgradeSource, Pick<BackupOptions, 'secretIds' | 'version' | 'now' | 'report'> {
  readonly log: Logger;
  /** The last statements of the transaction that stores the copied rows. */
  readonly beforeCommit: (plan: UpgradePlan) => RestoreOptions['beforeCommit'];
}

/** What an upgrade did. */
export interface Upgraded {
  readonly from: string;
  readonly to: string;
  /** The path of the old cluster. */
  readonly kept: string;
  /** What was copied; null when an earlier attempt had copied it. */
  readonly copied: Copied | null;
}

/** The rows that were copied, and what was not. */
export interface Copied extends Restored {
  /** Settings of the old configuration that the new server refuses. */
  readonly refusedSettings: readonly string[];
  /** Tables, roles and databases of an operator. */
  readonly ownObjects: readonly string[];
}

/** A socket that no command looks for, so that none changes what is being copied. */
const PRIVATE_PORT = 5433;

/** The old cluster changes as little as possible. */
const OLD_SETTINGS = { autovacuum: 'off' };

/** The write-ahead log of the copy stays within the spare space that the plan reserves. */
const NEW_SETTINGS = { max_wal_size: '256MB', min_wal_size: '80MB', autovacuum: 'off' };

const CONNECTIONS = 2;

/**
 * Moves the database of a data directory to the PostgreSQL of this version: copies all rows to a new cluster beside the old
 * one, and then exchanges them. The old one is kept. It may be interrupted at any point, and repeated.
 * @returns what was done, or the situation in which there is nothing to do
 * @throws StartupError or BackupError with a sentence for the operator; the old cluster is unchanged then
 */
export async function upgradeCluster(
  options: UpgradeOptions,
): Promise<Upgraded | Exclude<Situation, { kind: 'old' | 'interrupted' }>> {
  const { dataDirectory } = options;
  const lock = await lockDataDirectory(dataDirectory);
  try {
    const completed = await completeSwitch(dataDirectory, options.log);
    if (completed !== null) {
      const { from, to, kept } = completed;
      return { from, to, kept: join(dataDirectory, kept), copied: null };
    }
    const situation = await inspectUpgrade(options);
    if (situation.kind === 'old') return await upgrade(situation.plan, options);
    await discardAttempt(dataDirectory, options.log);
    if (situation.kind === 'interrupted') throw new Error('an interrupted upgrade was completed');
    return situation;
  } finally {
    await lock.release();
  }
}

async function upgrade(plan: UpgradePlan, options: UpgradeOptions): Promise<Upgraded> {
  const { dataDirectory, now, report } = options;
  const { from, to } = plan;
  requireSpace(plan);
  const attempt = await beginAttempt(dataDirectory, options.log);
  let copied: Copied;
  try {
    copied = await copyCluster(plan, attempt, options);
  } catch (error) {
    await discardAttempt(dataDirectory, options.log);
    throw error;
  }
  report('replacing the old database');
  const kept = await chooseKeptName(dataDirectory, from, now);
  await switchClusters(dataDirectory, { from, to, kept }, options.log);
  return { from, to, kept: join(dataDirectory, kept), copied };
}

/** Runs both servers, and stops them, which writes everything to the disk. */
async function copyCluster(
  plan: UpgradePlan,
  attempt: string,
  options: UpgradeOptions,
): Promise<Copied> {
  const { dataDirectory, report } = options;
  await using resources = new AsyncDisposableStack();
  report(`starting PostgreSQL ${plan.from}`);
  const from = await open(resources, plan, options, {
    dataDirectory,
    binaries: plan.oldPrograms,
    settings: OLD_SETTINGS,
  });
  report(`creating a database of PostgreSQL ${plan.to}`);
  const to = await open(resources, plan, options, {
    dataDirectory: attempt,
    binaries: plan.newPrograms,
    settings: NEW_SETTINGS,
  });
  const restored = await copyRows(from, to, plan, options);
  const refusedSettings = await carrySettings(from, to);
  const ownObjects = await listOwnObjects(from);
  report('stopping both servers');
  return { ...restored, refusedSettings, ownObjects };
}

async function open(
  resources: AsyncDisposableStack,
  { account }: UpgradePlan,
  { log }: UpgradeOptions,
  own: Pick<EmbeddedPostgresOptions, 'binaries' | 'dataDirectory' | 'settings'>,
): Promise<Pool> {
  const port = PRIVATE_PORT;
  const started = await startInLockedDirectory({
    ...own,
    port,
    log,
    ...(account === null ? {} : { account }),
  });
  resources.defer(() => started.stop());
  const pool = createPool(started.connection, { maxConnections: CONNECTIONS, log });
  resources.defer(() => pool.end());
  return pool;
}

/** A database without tables, of a service that never completed its first start, has nothing to copy. */
async function copyRows(
  from: Pool,
  to: Pool,
  plan: UpgradePlan,
  options: UpgradeOptions,
): Promise<Restored> {
  if ((await listPresentTables(from)).length === 0) return { tables: 0, rows: 0, migrations: [] };
  const { dataDirectory, secretIds, version, now, report, beforeCommit } = options;
  return copyDatabase(
    { pool: from, secretIds, version, now, report },
    {
      pool: to,
      readFreeMib: () => readFreeSpace(dataDirectory),
      beforeCommit: beforeCommit(plan),
    },
  );
}
