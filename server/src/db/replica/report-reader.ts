/** Reads reports from a replica, or from the primary while there is no usable replica. */
import { setTimeout as sleep } from 'node:timers/promises';

import { DatabaseError, type Pool } from 'pg';

import { cacheBriefly } from '#server/lib/cache-briefly.ts';
import { messageOf } from '#server/lib/unknown-values.ts';

import { isConnectionFailure } from '../database-errors.ts';
import type { Queryable } from '../statement.ts';
import {
  findReplicaProblem,
  readPrimary,
  readReplica,
  type PrimaryState,
} from './replica-state.ts';

interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface ReportReaderOptions {
  readonly primary: Pool;
  /** Null: there is none. */
  readonly replica: Pool | null;
  /** A replica that is further behind is not read. */
  readonly maxLagMs: number;
  readonly log: Log;
  /** Default: the time of this process. */
  readonly nowMs?: () => number;
}

type Work<Result> = (db: Queryable) => Promise<Result>;

/** The replica is compared with the primary once in this time. */
const FRESH_MS = 5_000;

/** The first change after a pause is replayed within milliseconds, but the last one before is old. */
const CATCH_UP_MS = 1_000;
const POLL_MS = 20;

export class ReportReader {
  readonly #options: ReportReaderOptions;
  readonly #findLag: () => Promise<string | null>;
  #isUsable = true;

  constructor(options: ReportReaderOptions) {
    const { maxLagMs, nowMs = () => performance.now() } = options;
    this.#options = options;
    this.#findLag = cacheBriefly(nowMs, FRESH_MS, () => this.#compare(maxLagMs));
  }

  /**
   * Runs statements that only read, where the last changes may be missing: on the replica, or on the primary when the replica
   * is too far behind, does not answer, or fails.
   */
  read<Result>(work: Work<Result>): Promise<Result> {
    return this.#read(this.#findLag, work);
  }

  /** Like {@link read}, but only on a replica that has every change before the call. */
  readComplete<Result>(work: Work<Result>): Promise<Result> {
    return this.#read(() => this.#compare(null), work);
  }

  async #read<Result>(findProblem: () => Promise<string | null>, work: Work<Result>) {
    const { primary, replica } = this.#options;
    if (replica === null) return work(primary);
    const problem = await findProblem();
    if (problem !== null) return this.#readPrimary(problem, work);
    try {
      const result = await work(replica);
      this.#reportUsable();
      return result;
    } catch (error) {
      // Also a conflict with replay, and a table that a migration is about to create there.
      const isOfReplica = error instanceof DatabaseError || isConnectionFailure(error);
      if (!isOfReplica) throw error;
      return this.#readPrimary(`it failed (${messageOf(error)})`, work);
    }
  }

  #readPrimary<Result>(problem: string, work: Work<Result>): Promise<Result> {
    if (this.#isUsable) {
      this.#options.log.warn(
        { event: 'replica.unusable', problem },
        `reports are read from the primary instead of the replica: ${problem}`,
      );
    }
    this.#isUsable = false;
    return work(this.#options.primary);
  }

  #reportUsable(): void {
    if (this.#isUsable) return;
    this.#isUsable = true;
    this.#options.log.info({ event: 'replica.usable' }, 'reports are read from the replica again');
  }

  async #compare(maxLagMs: number | null): Promise<string | null> {
    const { primary, replica } = this.#options;
    return replica === null ? null : compareReplica(primary, replica, maxLagMs);
  }
}

/**
 * Returns why a replica must not be read, as a clause; null: it may be. Gives it a moment to catch up.
 * @param maxLagMs null: it must have everything that the primary has
 */
export async function compareReplica(
  primary: Pool,
  replica: Pool,
  maxLagMs: number | null,
): Promise<string | null> {
  const state = await readPrimary(primary);
  try {
    return await waitForReplica(replica, state, maxLagMs);
  } catch (error) {
    return `it does not answer (${messageOf(error)})`;
  }
}

async function waitForReplica(replica: Pool, primary: PrimaryState, maxLagMs: number | null) {
  const deadline = performance.now() + CATCH_UP_MS;
  for (;;) {
    const state = await readReplica(replica, primary.position);
    const problem = findReplicaProblem(primary, state, maxLagMs);
    const isOver = !state.inRecovery || performance.now() > deadline;
    if (problem === null || isOver) return problem;
    await sleep(POLL_MS);
  }
}
