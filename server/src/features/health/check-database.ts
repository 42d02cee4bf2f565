import type { HealthCheck } from '@latchkey/contract';

import { withDeadline } from '#server/lib/deadline.ts';

import type { HealthDependencies } from './dependencies.ts';

/** A database that does not answer within this time is unhealthy. */
const PING_TIMEOUT_MS = 2_000;

/** A slower database is degraded; a ping is usually well below a millisecond. */
const SLOW_PING_MS = 500;

/** Pings the database. Never throws: errors are logged. */
export async function checkDatabase({
  pingDatabase,
  log,
}: HealthDependencies): Promise<HealthCheck> {
  const startedAt = performance.now();
  try {
    await withDeadline(PING_TIMEOUT_MS, `no answer in ${PING_TIMEOUT_MS} ms`, pingDatabase());
  } catch (error) {
    log.warn({ event: 'health.database_check_failed', err: error }, 'could not ping the database');
    return { status: 'unhealthy', latency_ms: null, message: 'The database does not answer.' };
  }
  const latencyMs = Math.round((performance.now() - startedAt) * 100) / 100;
  return latencyMs > SLOW_PING_MS
    ? { status: 'degraded', latency_ms: latencyMs, message: 'The database answers slowly.' }
    : { status: 'healthy', latency_ms: latencyMs };
}

/** Checks whether the database has the schema of this version. Never throws. */
export async function checkMigrations({
  migrationsPending,
  log,
}: HealthDependencies): Promise<HealthCheck> {
  try {
    return (await migrationsPending())
      ? { status: 'unhealthy', message: 'The database has not been migrated to this version.' }
      : { status: 'healthy' };
  } catch (error) {
    log.warn(
      { event: 'health.migrations_check_failed', err: error },
      'could not list the migrations',
    );
    return { status: 'unhealthy', message: 'The state of the migrations is unknown.' };
  }
}
