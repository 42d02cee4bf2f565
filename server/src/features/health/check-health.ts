import type { HealthCheck, HealthResponse, LiveResponse, ReadyResponse } from '@latchkey/contract';

import { cacheBriefly } from '#server/lib/cache-briefly.ts';

import { checkBacklog } from './check-backlog.ts';
import { checkDatabase, checkMigrations } from './check-database.ts';
import type { HealthDependencies, WorkerCounts } from './dependencies.ts';

/** The three health responses. */
export interface Health {
  /** Whether the process runs; checks nothing. */
  live(): LiveResponse;
  /** Whether the process can serve requests. */
  ready(): Promise<ReadyResponse>;
  /** All checks, for operators and monitoring. */
  report(): Promise<HealthResponse>;
}

/** How long results are cached, so that health requests cannot load the database. */
const FRESH_MS = 1_000;

/** Creates the health responses; the checks run at most once per second. */
export function createHealth(deps: HealthDependencies): Health {
  const { clock, version, startedAt, isDraining } = deps;
  const readChecks = cacheBriefly(
    () => clock.now().getTime(),
    FRESH_MS,
    () => runChecks(deps),
  );
  // Not cached: none of them queries the database.
  const readProcessChecks = () => ({
    load: checkLoad(deps.readLoadState()),
    disk: checkDisk(deps.isDiskLow()),
    process: checkProcess(isDraining()),
    ...checkWorkers(deps.readWorkers?.() ?? null),
    ...checkRedis(deps.isRedisUsed?.() ?? null),
  });
  const processFacts = () => ({
    version,
    uptime_seconds: Math.max(0, Math.floor((clock.now().getTime() - startedAt.getTime()) / 1_000)),
  });

  return {
    live: () => ({ status: 'alive', ...processFacts() }),
    async ready() {
      const checks = { ...(await readChecks()), ...readProcessChecks() };
      const ready = Object.values(checks).every((check) => check.status !== 'unhealthy');
      return { status: ready ? 'ready' : 'not_ready', checks };
    },
    async report() {
      const checks = { ...(await readChecks()), ...readProcessChecks() };
      return { status: worstOf(Object.values(checks)), ...processFacts(), checks };
    },
  };
}

async function runChecks(deps: HealthDependencies): Promise<Record<string, HealthCheck>> {
  const database = await checkDatabase(deps);
  if (database.status === 'unhealthy') return { database };
  const migrations = await checkMigrations(deps);
  if (migrations.status === 'unhealthy') return { database, migrations };
  return { database, migrations, ...(await checkBacklog(deps)) };
}

function checkProcess(draining: boolean): HealthCheck {
  return draining
    ? { status: 'unhealthy', message: 'The process is shutting down.' }
    : { status: 'healthy' };
}

/** Without Redis, each machine counts for itself. */
function checkRedis(isUsed: boolean | null): Record<string, HealthCheck> {
  if (isUsed === null) return {};
  if (isUsed) return { redis: { status: 'healthy' } };
  const message = 'Redis failed: limits count on each machine alone.';
  return { redis: { status: 'degraded', message } };
}

/** The others serve requests while one is replaced. */
function checkWorkers(counts: WorkerCounts | null): Record<string, HealthCheck> {
  if (counts === null) return {};
  const { running, wanted } = counts;
  if (running >= wanted) return { workers: { status: 'healthy' } };
  return { workers: { status: 'degraded', message: `Workers that run: ${running} of ${wanted}.` } };
}

/**
 * An overloaded process stays ready: otherwise all processes would fail their probes together, which would turn a partial
 * outage into a complete one.
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

/** Licensing still works, so the service stays ready. */
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
