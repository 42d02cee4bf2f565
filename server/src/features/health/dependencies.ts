import type { Logger } from 'pino';
import type { Clock } from '#server/clock.ts';

/** What needs somebody's attention. */
export interface HealthBacklog {
  /** Tried as often as they may be, in vain. */
  readonly jobs: { readonly givenUp: number };
  /** Of payment providers, not applied. */
  readonly events: { readonly deferred: number; readonly failed: number };
  /** Whether a provider's own log could not be read the last time. */
  readonly isReconciliationFailing: boolean;
  readonly undelivered: {
    /** Refused for good in the last week, or taken by the relay without a word. */
    readonly keyEmails: number;
    /** To endpoints, failed for good in the last week. */
    readonly deliveries: number;
    /** Disabled for failing. */
    readonly endpoints: number;
  };
}

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
  readonly readBacklog: () => Promise<HealthBacklog>;
  /** Whether the file system of the embedded database has hardly any room left. */
  readonly isDiskLow: () => boolean;
  /** True from the moment that the process was asked to stop. */
  readonly isDraining: () => boolean;
  /**
   * How loaded the HTTP layer is: `overloaded` while some requests are refused, `refusing` while most are.
   */
  readonly readLoadState: () => 'normal' | 'overloaded' | 'refusing';
}
