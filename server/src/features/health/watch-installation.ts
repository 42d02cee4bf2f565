import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import type { BackgroundTask } from '#server/jobs/background-task.ts';

import { listPartitionDays } from '../analytics/queries/partitions.ts';
import { findPreparedUntil } from '../analytics/rules/prepared-days.ts';
import { findNewestOccurrence } from '../audit/queries.ts';
import { countLicensesByStatus } from '../licenses/queries/license-counts.ts';
import { measureDatabase } from './queries.ts';

interface InstallationDependencies {
  readonly pool: Pool;
  readonly clock: Clock;
}

/** The size of the database, and times that an operator should watch. */
export interface InstallationFacts {
  readonly databaseBytes: number;
  /** When `latchkey backup` last wrote and verified a file; null: never. */
  readonly lastBackupAt: Date | null;
  /** Until when events can be stored. */
  readonly eventPartitionsUntil: Date;
}

/** Recorded when a backup is complete and verified. */
export const BACKUP_VERIFIED = 'database.verify_backup';

/** Reads the facts of an installation; costs the same with many rows. */
export async function readInstallation({
  pool,
  clock,
}: InstallationDependencies): Promise<InstallationFacts> {
  return {
    databaseBytes: (await measureDatabase(pool)).bytes,
    lastBackupAt: await findNewestOccurrence(pool, BACKUP_VERIFIED),
    eventPartitionsUntil: findPreparedUntil(await listPartitionDays(pool), clock.now()),
  };
}

const INTERVAL_MS = 60_000;

/** Limits the count of licenses, which reads all of them, to 0.5 % of the time. */
const PAUSES_PER_COUNT = 200;

/** The facts of the installation and the number of licenses, as this process read them last, for the metrics. */
export class InstallationWatch {
  readonly #deps: InstallationDependencies;
  #facts: InstallationFacts | null = null;
  #licenses: Readonly<Record<string, number>> | null = null;

  constructor(deps: InstallationDependencies) {
    this.#deps = deps;
  }

  /** Null before the first reading. */
  get facts(): InstallationFacts | null {
    return this.#facts;
  }

  /** The numbers of licenses by status; null before the first count. */
  get licenses(): Readonly<Record<string, number>> | null {
    return this.#licenses;
  }

  readonly tasks: readonly BackgroundTask[] = [
    {
      name: 'installation',
      scope: 'process',
      isForLeader: true,
      firstRunMs: 4_000,
      intervalMs: INTERVAL_MS,
      event: 'installation.read',
      action: 'read the size of the database and the time of the last backup',
      run: async () => {
        this.#facts = await readInstallation(this.#deps);
      },
    },
    {
      name: 'license_count',
      scope: 'process',
      isForLeader: true,
      firstRunMs: 5_000,
      intervalMs: INTERVAL_MS,
      event: 'licenses.count',
      action: 'count the licenses by status',
      run: () => this.#countLicenses(),
    },
  ];

  async #countLicenses(): Promise<number> {
    const { clock, pool } = this.#deps;
    const startedMs = performance.now();
    this.#licenses = await countLicensesByStatus(pool, clock.now());
    return Math.max(INTERVAL_MS, PAUSES_PER_COUNT * (performance.now() - startedMs));
  }
}
