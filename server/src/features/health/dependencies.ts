import type { Logger } from 'pino';
import type { Clock } from '#server/clock.ts';
import type { Backlog } from './count-backlog.ts';

/** How many workers of a service serve requests, and how many should. */
export interface WorkerCounts {
  readonly running: number;
  readonly wanted: number;
}

export interface HealthDependencies {
  readonly clock: Clock;
  readonly startedAt: Date;
  /** The version of the program. */
  readonly version: string;
  readonly log: Pick<Logger, 'warn'>;
  /** Resolves when the database answered. */
  readonly pingDatabase: () => Promise<void>;
  readonly migrationsPending: () => Promise<boolean> | boolean;
  /** May be a minute old. */
  readonly readBacklog: () => Promise<Backlog>;
  /** Whether the file system of the embedded database is nearly full. */
  readonly isDiskLow: () => boolean;
  /** Whether the process is stopping. */
  readonly isDraining: () => boolean;
  /** The load of the HTTP layer: `overloaded` while it refuses some requests, `refusing` while it refuses most. */
  readonly readLoadState: () => 'normal' | 'overloaded' | 'refusing';
  /** Whether the Redis of REDIS_URL counts for limits; null: it is not set. Default: it is not set. */
  readonly isRedisUsed?: () => boolean | null;
  /** Null: this process runs alone. Default: it runs alone. */
  readonly readWorkers?: () => WorkerCounts | null;
}
