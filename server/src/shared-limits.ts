import type { Secrets } from './config/secrets.ts';
import { explainRedisFailure } from './features/doctor/check-redis.ts';
import { LocalCounters } from './lib/counters.ts';
import { SharedCounters, type CounterStore } from './lib/shared-counters.ts';
import { messageOf } from './lib/unknown-values.ts';
import type { Logger } from './log.ts';
import { openRedisStore } from './redis/redis-store.ts';

interface SharedLimitsOptions {
  readonly secrets: Pick<Secrets, 'master' | 'redisUrl'>;
  /** The counters in the supervisor; null: this process runs alone. */
  readonly workers: CounterStore | null;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/** Without requests that count, a lost or returned connection to Redis is noticed after so long. */
const PROBE_INTERVAL_MS = 10_000;

/** The counters of limits that this process shares with others. */
export interface SharedLimits {
  /** Null: this process counts alone. */
  readonly counters: SharedCounters | null;
  /** Whether REDIS_URL is set and Redis counts; null: it is not set. */
  readonly isRedisUsed: () => boolean | null;
  close(): void;
}

/**
 * Opens the counters: in Redis for all processes of the installation when REDIS_URL is set, else in the supervisor for all
 * workers of this machine. While Redis fails, the machine's counters count, and a warning is logged.
 */
export async function openSharedLimits(options: SharedLimitsOptions): Promise<SharedLimits> {
  const { secrets, workers, log } = options;
  const ofMachine = workers === null ? null : shareWithWorkers(workers, log);
  if (secrets.redisUrl === null) {
    return { counters: ofMachine, isRedisUsed: () => null, close: () => {} };
  }
  const store = await openRedisStore(secrets.redisUrl, secrets.master);
  const counters = new SharedCounters({
    store,
    createFallback: () => ofMachine ?? new LocalCounters(),
    onFailure: (error) =>
      log.warn(
        {
          event: 'limits.redis_failed',
          reason: messageOf(error),
          fix: explainRedisFailure(error).fix,
        },
        'the Redis of REDIS_URL failed: limits count on this machine alone until it answers again',
      ),
    onRecovery: () =>
      log.info({ event: 'limits.redis_recovered' }, 'limits count once per installation again'),
  });
  const probe = async (): Promise<void> => void (await counters.read('probe', ''));
  await probe();
  const probing = setInterval(() => void probe(), PROBE_INTERVAL_MS).unref();
  return {
    counters,
    isRedisUsed: () => !counters.hasFailed,
    close() {
      clearInterval(probing);
      store.close();
    },
  };
}

/** Shares the counters of limits with the other workers of this machine. */
function shareWithWorkers(store: CounterStore, log: Pick<Logger, 'info' | 'warn'>): SharedCounters {
  return new SharedCounters({
    store,
    createFallback: () => new LocalCounters(),
    onFailure: (error) =>
      log.warn(
        { event: 'limits.supervisor_failed', err: error },
        'the supervisor does not count for this worker: limits count in this worker alone',
      ),
    onRecovery: () =>
      log.info({ event: 'limits.supervisor_recovered' }, 'limits count once for all workers again'),
  });
}
