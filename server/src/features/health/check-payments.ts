import type { HealthCheck } from '@latchkey/contract';
import type { HealthDependencies } from './dependencies.ts';

/**
 * Whether everything that payment providers told was applied. Never throws, and never worse than degraded: the events are
 * kept, and licences are served.
 */
export async function checkPayments({
  readBacklog,
  log,
}: Pick<HealthDependencies, 'readBacklog' | 'log'>): Promise<HealthCheck> {
  try {
    const { events, isReconciliationFailing } = await readBacklog();
    const troubles = [
      ...(events.failed > 0 ? [`Payment events given up: ${events.failed}.`] : []),
      ...(events.deferred > 0 ? [`Payment events tried again later: ${events.deferred}.`] : []),
      ...(isReconciliationFailing ? ["Paddle's log of events cannot be read."] : []),
    ];
    if (troubles.length === 0) return { status: 'healthy' };
    return { status: 'degraded', message: troubles.join(' ') };
  } catch (error) {
    log.warn({ err: error }, 'the payment events cannot be counted');
    return { status: 'degraded', message: 'The state of the payment events is not known.' };
  }
}
