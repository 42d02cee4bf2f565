import { LocalCounters } from './lib/counters.ts';
import { SharedCounters, type CounterStore } from './lib/shared-counters.ts';
import type { Logger } from './log.ts';

/** Shares the counters of limits with the other workers of this machine. */
export function shareWithWorkers(store: CounterStore, log: Logger): SharedCounters {
  return new SharedCounters({
    store,
    fallback: new LocalCounters(),
    onFailure: (error) =>
      log.warn(
        { event: 'limits.supervisor_failed', err: error },
        'the supervisor does not count for this worker: limits count in this worker alone',
      ),
    onRecovery: () =>
      log.info({ event: 'limits.supervisor_recovered' }, 'limits count once for all workers again'),
  });
}
