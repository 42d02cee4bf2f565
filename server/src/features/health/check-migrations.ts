import type { HealthCheck } from '@latchkey/contract';
import type { HealthDependencies } from './dependencies.ts';

/** Whether the database has the schema that this program is written for. Never throws. */
export async function checkMigrations({
  migrationsPending,
  log,
}: HealthDependencies): Promise<HealthCheck> {
  try {
    return (await migrationsPending())
      ? { status: 'unhealthy', message: 'The database has not been migrated to this version.' }
      : { status: 'healthy' };
  } catch (error) {
    log.warn({ err: error }, 'the migrations cannot be compared');
    return { status: 'unhealthy', message: 'The state of the migrations is not known.' };
  }
}
