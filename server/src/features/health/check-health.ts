import type { HealthCheck, HealthResponse, LiveResponse, ReadyResponse } from '@latchkey/contract';

import type { Clock } from '#server/clock.ts';

import { checkBacklog } from './check-backlog.ts';
import { checkDatabase, checkMigrations } from './check-database.ts';
import type { HealthDependencies } from './dependencies.ts';

/** The three answers about health. */
export interface Health {
  /** That the process runs; asks nothing. */
  live(): LiveResponse;
  /** Whether requests should be sent here. */
  ready(): Promise<ReadyResponse>;
  /** Everything, for people and monitoring. */
  report(): Promise<HealthResponse>;
}

/** For how long a result is shown again, so that nobody can load the database by asking for health. */
const FRESH_MS = 1_000;

/** Makes the three answers; however often they are asked for, the checks run once per second. */
export function createHealth(dependencies: HealthDependencies): Health {
  const { clock, version, startedAt, isDraining } = dependencies;
  const readChecks = keepFresh(clock, () => runChecks(dependencies));
  // Read at each request and never kept: neither asks the database.
  const readProcessChecks = () => ({
    load: checkLoad(dependencies.readLoadState()),
    disk: checkDisk(dependencies.isDiskLow()),
    process: checkProcess(isDraining()),
  });
  const life = () => ({
    version,
    uptime_seconds: Math.max(0, Math.floor((clock.now().getTime() - startedAt.getTime()) / 1_000)),
  });

  return {
    live: () => ({ status: 'alive', ...life() }),
    async ready() {
      const checks = { ...(await readChecks()), ...readProcessChecks() };
      const ready = Object.values(checks).every((check) => check.status !== 'unhealthy');
      return { status: ready ? 'ready' : 'not_ready', checks };
    },
    async report() {
      const checks = { ...(await readChecks()), ...readProcessChecks() };
      return { status: worstOf(Object.values(checks)), ...life(), checks };
    },
  };
}

async function runChecks(dependencies: HealthDependencies): Promise<Record<string, HealthCheck>> {
  const database = await checkDatabase(dependencies);
  if (database.status === 'unhealthy') return { database };
  const migrations = await checkMigrations(dependencies);
  if (migrations.status === 'unhealthy') return { database, migrations };
  return { database, migrations, ...(await checkBacklog(dependencies)) };
}

function checkProcess(draining: boolean): HealthCheck {
  return draining
    ? { status: 'unhealthy', message: 'The process is shutting down.' }
    : { status: 'healthy' };
}

/**
 * Refusing some requests is no reason to get none: all processes would fail their probes together, and a partial outage
 * would become a whole one. Refusing most of them is.
 */
function checkLoad(state: ReturnType<HealthDependencies['readLoadState']>): HealthCheck {
  if (state === 'normal') return { status: 'healthy' };
  return state === 'overloaded'
    ? {
        status: 'degraded',
        message: 'Some requests are refused: the memory for them is exhausted.',
      }
    : {
        status: 'unhealthy',
        message: 'Most requests are refused: the memory for them is exhausted.',
      };
}

/** Licensing goes on, so the service stays ready. */
function checkDisk(isLow: boolean): HealthCheck {
  if (!isLow) return { status: 'healthy' };
  const message = 'Disk space is low: events and heartbeats are refused.';
  return { status: 'degraded', message };
}

function worstOf(checks: readonly HealthCheck[]): HealthResponse['status'] {
  const statuses = new Set(checks.map((check) => check.status));
  if (statuses.has('unhealthy')) return 'unhealthy';
  return statuses.has('degraded') ? 'degraded' : 'healthy';
}

/** Callers within the same second share one run, and so do those who come while it is under way. */
function keepFresh<T>(clock: Clock, load: () => Promise<T>): () => Promise<T> {
  let kept: { readonly at: number; readonly value: Promise<T>; done: boolean } | null = null;
  return () => {
    const now = clock.now().getTime();
    // The distance, not the age: a clock set back must not keep a result alive.
    if (kept !== null && (!kept.done || Math.abs(now - kept.at) < FRESH_MS)) return kept.value;
    const value = load();
    const run = { at: now, value, done: false };
    const note = (): void => {
      run.done = true;
    };
    value.then(note, note);
    kept = run;
    return value;
  };
}
