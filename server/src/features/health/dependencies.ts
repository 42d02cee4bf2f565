import type { Logger } from 'pino';
import type { Clock } from '#server/clock.ts';
import type { Backlog } from './count-backlog.ts';

/** What health is judged by. */
export interface HealthDependencies {
  readonly clock: Clock;
  readonly startedAt: Date;
  /** The version of the program. */
  readonly version: string;
  readonly log: Pick<Logger, 'warn'>;
  /** Resolves when the database has answered. */
  readonly pingDatabase: () => Promise<void>;
  readonly migrationsPending: () => Promise<boolean> | boolean;
  /** What needs somebody's attention; it may be a minute old. */
  readonly readBacklog: () => Promise<Backlog>;
  /** Whether the file system of the embedded database has hardly any room left. */
  readonly isDiskLow: () => boolean;
  /** True from the moment that the process was asked to stop. */
  readonly isDraining: () => boolean;
  /**
   * How loaded the HTTP layer is: `overloaded` while some requests are refused, `refusing` while most are.
   */
  readonly readLoadState: () => 'normal' | 'overloaded' | 'refusing';
}
