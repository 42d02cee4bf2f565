import type { Logger } from 'pino';
import type { Clock } from '#server/clock.ts';

/** What health is judged by. */
export interface HealthDependencies {
  readonly clock: Clock;
  readonly startedAt: Date;
  /** The version of the program. */
  readonly version: string;
  readonly log: Pick<Logger, 'warn'>;
  /** Resolves when the database answered; may give up when the signal aborts. */
  readonly pingDatabase: (signal: AbortSignal) => Promise<void>;
  readonly migrationsPending: () => Promise<boolean> | boolean;
  /** How many jobs were tried as often as they may be, in vain. */
  readonly countGivenUpJobs: () => Promise<number>;
  /** True from the moment that the process was asked to stop. */
  readonly isDraining: () => boolean;
}
