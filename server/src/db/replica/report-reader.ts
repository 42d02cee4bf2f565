/** Reads reports from a replica, or from the primary while there is no usable replica. */
import { setTimeout as sleep } from 'node:timers/promises';

import { DatabaseError, type Pool, type PoolClient } from 'pg';

import { messageOf } from '#server/lib/unknown-values.ts';

import { fromDatabase, isConnectionFailure, isConnectionSpent } from '../database-errors.ts';
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

/** The result of work on the replica, or why it was not read. */
type Outcome<Result> =
  | { readonly result: Result }
  | { readonly problem: string; readonly isLasting: boolean };

/** An unusable replica is not tried again for this time: each attempt may wait for a timeout. */
const PROBLEM_FRESH_MS = 30_000;

/** The first change after a pause is replayed within milliseconds, but the last one before is old. */
const CATCH_UP_MS = 1_000;
const POLL_MS = 20;

export class ReportReader {
  readonly #options: ReportReaderOptions;
  readonly #nowMs: () => number;
  /** The last problem for each allowed lag. */
  readonly #problems = new Map<number | null, { readonly problem: string; readonly at: number }>();
  #isUsable = true;

  constructor(options: ReportReaderOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
  }

  /**
   * Runs statements that only read, where the last changes may be missing: on one connection to the replica, or on the primary
   * when the replica is too far behind, does not answer, or fails.
   */
  read<Result>(work: Work<Result>): Promise<Result> {
    return this.#read(this.#options.maxLagMs, work);
  }

  /** Like {@link read}, but only on a replica that has every change before the call. */
  readComplete<Result>(work: Work<Result>): Promise<Result> {
    return this.#read(null, work);
  }

  async #read<Result>(maxLagMs: number | null, work: Work<Result>): Promise<Result> {
    const { primary, replica } = this.#options;
    if (replica === null) return work(primary);
    const recent = this.#findRecentProblem(maxLagMs);
    if (recent !== null) return this.#readPrimary(recent, work);
    const state = await readPrimary(primary);
    const outcome = await readReplicaIfUsable(replica, { state, maxLagMs }, work);
    if ('result' in outcome) {
      this.#reportUsable();
      return outcome.result;
    }
    const { problem, isLasting } = outcome;
    if (isLasting) this.#problems.set(maxLagMs, { problem, at: this.#nowMs() });
    return this.#readPrimary(problem, work);
  }

  #findRecentProblem(maxLagMs: number | null): string | null {
    const found = this.#problems.get(maxLagMs);
    return found && this.#nowMs() - found.at < PROBLEM_FRESH_MS ? found.problem : null;
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
}

interface Requirement {
  readonly state: PrimaryState;
  readonly maxLagMs: number | null;
}

/** Checks a connection and runs work on the same one: the next may lead to another server. */
async function readReplicaIfUsable<Result>(
  replica: Pool,
  requirement: Requirement,
  work: Work<Result>,
): Promise<Outcome<Result>> {
  let client: PoolClient;
  try {
    client = await fromDatabase(replica.connect());
  } catch (error) {
    // Its connections may all be in use, which passes.
    const isLasting = replica.totalCount < replica.options.max;
    return { problem: `it does not answer (${messageOf(error)})`, isLasting };
  }
  let failure: unknown = null;
  try {
    const problem = await findProblem(client, requirement, (error) => (failure = error));
    if (problem !== null) return { problem, isLasting: true };
    return { result: await work(client) };
  } catch (error) {
    failure = error;
    // Also a conflict with replay, and a table that a migration is about to create there.
    const isOfReplica = error instanceof DatabaseError || isConnectionFailure(error);
    if (!isOfReplica) throw error;
    return { problem: `it failed (${messageOf(error)})`, isLasting: isConnectionFailure(error) };
  } finally {
    client.release(failure !== null && isConnectionSpent(failure));
  }
}

/**
 * Returns why a replica must not be read, as a clause; null: it may be. Waits up to a second for replay.
 * @param maxLagMs null: it must have everything that the primary has
 */
export async function compareReplica(
  primary: Queryable,
  replica: Queryable,
  maxLagMs: number | null,
): Promise<string | null> {
  return findProblem(replica, { state: await readPrimary(primary), maxLagMs });
}

async function findProblem(
  replica: Queryable,
  { state, maxLagMs }: Requirement,
  onError: (error: unknown) => void = () => {},
): Promise<string | null> {
  try {
    return await waitForReplica(replica, state, maxLagMs);
  } catch (error) {
    onError(error);
    return `it does not answer (${messageOf(error)})`;
  }
}

async function waitForReplica(
  replica: Queryable,
  primary: PrimaryState,
  maxLagMs: number | null,
): Promise<string | null> {
  const deadline = performance.now() + CATCH_UP_MS;
  for (;;) {
    const state = await readReplica(replica, primary.position);
    const problem = findReplicaProblem(primary, state, maxLagMs);
    const isOver = !state.inRecovery || performance.now() > deadline;
    if (problem === null || isOver) return problem;
    await sleep(POLL_MS);
  }
}
