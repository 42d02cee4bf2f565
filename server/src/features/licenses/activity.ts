import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import { retryConflicts } from '#server/db/transaction.ts';

import { refreshLicenseActivity } from './queries/license-activity.ts';
import { addRefusals, type RefusalRow } from './queries/license-refusals.ts';

/** Licenses, and refusals by license and reason, that are buffered at most; further ones wait for the daily roll-up, or are only in the metrics. */
const MAX_BUFFERED = 20_000;

/** What happened to licenses since the last write. */
interface BufferedActivity {
  readonly refusals: readonly RefusalRow[];
  /** The licenses whose machines changed. */
  readonly licenseIds: readonly string[];
}

/**
 * Counts refused requests by license, day and reason, and collects the licenses whose machines changed. Both are buffered
 * and written together: a refusal costs its request an entry of a map (0.2 µs), and a valid request nothing. A killed
 * process loses its last seconds.
 */
export class LicenseActivity {
  readonly #clock: Clock;
  #refusals = new Map<string, RefusalRow>();
  #licenseIds = new Set<string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts a refused request. @param reason a code of the interface */
  recordRefusal(licenseId: string, reason: string): void {
    const lastAt = this.#clock.now();
    const day = lastAt.toISOString().slice(0, 10);
    this.#add({ licenseId, day, reason, refusals: 1, lastAt });
  }

  /** Notes that a machine of a license was activated or deactivated. */
  recordMachineChange(licenseId: string): void {
    if (this.#licenseIds.size < MAX_BUFFERED) this.#licenseIds.add(licenseId);
  }

  /** Empties the buffer and returns its content. */
  take(): BufferedActivity {
    const buffered = {
      refusals: [...this.#refusals.values()],
      licenseIds: [...this.#licenseIds],
    };
    this.#refusals = new Map();
    this.#licenseIds = new Set();
    return buffered;
  }

  /** Returns activity that could not be written to the buffer. */
  restore({ refusals, licenseIds }: BufferedActivity): void {
    for (const row of refusals) this.#add(row);
    for (const id of licenseIds) this.recordMachineChange(id);
  }

  #add(row: RefusalRow): void {
    const key = `${row.licenseId} ${row.day} ${row.reason}`;
    const known = this.#refusals.get(key);
    if (known === undefined && this.#refusals.size >= MAX_BUFFERED) return;
    this.#refusals.set(key, {
      ...row,
      refusals: row.refusals + (known?.refusals ?? 0),
      lastAt: known !== undefined && known.lastAt > row.lastAt ? known.lastAt : row.lastAt,
    });
  }
}

/**
 * Writes the buffered activity to the database. After a failure it remains buffered; if the database executed the
 * statement without answering, refusals are counted twice rather than lost.
 */
export async function writeLicenseActivity({
  licenseActivity,
  pool,
}: {
  readonly licenseActivity: LicenseActivity;
  readonly pool: Pool;
}): Promise<void> {
  const buffered = licenseActivity.take();
  const { refusals, licenseIds } = buffered;
  try {
    if (licenseIds.length > 0) await retryConflicts(() => refreshLicenseActivity(pool, licenseIds));
    if (refusals.length > 0) await retryConflicts(() => addRefusals(pool, refusals));
  } catch (error) {
    licenseActivity.restore(buffered);
    throw error;
  }
}
