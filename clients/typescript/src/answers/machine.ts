import type { Result } from './results.ts';

/** A machine of a license. */
export interface Machine {
  readonly activationId: string;
  readonly isActive: boolean;
  /** Whether it is the one that the program runs on. */
  readonly isThis: boolean;
  readonly osVersion: string | null;
  readonly appVersion: string | null;
  /** RFC 3339. */
  readonly activatedAt: string;
  /** RFC 3339. */
  readonly lastValidatedAt: string;
}

/** The machines of a license, active ones first. */
export type Machines = Result<{ readonly machines: readonly Machine[] }>;
