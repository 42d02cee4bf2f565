import type { HealthCheck } from '@latchkey/contract';
import type { HealthDependencies } from './dependencies.ts';

/**
 * Whether work of the service's own was given up. Never throws, and never worse than degraded: the licenses of requests
 * need no job.
 */
export async function checkJobs({
  readBacklog,
  log,
}: Pick<HealthDependencies, 'readBacklog' | 'log'>): Promise<HealthCheck> {
  try {
    const { givenUp } = (await readBacklog()).jobs;
    if (givenUp === 0) return { status: 'healthy' };
    const subject = givenUp === 1 ? '1 job was' : `${givenUp} jobs were`;
    return { status: 'degraded', message: `${subject} tried in vain and given up.` };
  } catch (error) {
    log.warn({ err: error }, 'the jobs cannot be counted');
    return { status: 'degraded', message: 'The state of the jobs is not known.' };
  }
}
