import type { LicenseStatusFacts } from '../../licenses/rules/facts.ts';

/** An operation that helps. */
export type DiagnosisAction =
  | 'free_machine'
  | 'change_limit'
  | 'allow_moves'
  | 'extend'
  | 'reinstate'
  | 'resend'
  | 'change_owner'
  | 'issue';

/** Why a license does not work on a computer, or that it works. */
export interface Diagnosis {
  /** Stable. */
  readonly code: string;
  readonly level: 'ok' | 'notice' | 'problem';
  readonly sentence: string;
  /** What to do. */
  readonly advice: string;
  /** The best one first. */
  readonly actions: readonly DiagnosisAction[];
}

/** The facts that decide a diagnosis. */
export interface DiagnosisFacts {
  readonly license: LicenseStatusFacts & {
    readonly maxActivations: number;
    readonly customerEmail: string | null;
  };
  readonly now: Date;
  readonly machines: MachineFacts;
  readonly moves: {
    readonly used: number;
    readonly limit: number;
    readonly days: number;
    readonly extra: number;
  };
  /** The refused requests of the last 7 days, by reason. */
  readonly refusals: readonly Refusals[];
  /** When the key was replaced last; null: never. */
  readonly keyReplacedAt: Date | null;
  /** The e-mail with the key after the purchase; null: none. */
  readonly keyEmail: { readonly state: string; readonly reason: string | null } | null;
}

export interface MachineFacts {
  readonly active: number;
  /** Also those that were deactivated. */
  readonly everActivated: number;
  /** Active machines whose token has expired, because they did not reach the service for so long. */
  readonly overdue: number;
  /** The newest sign of any machine, active or not. */
  readonly lastSeenAt: Date | null;
  /** When a machine was last activated or deactivated. */
  readonly changedAt: Date | null;
  /** How many days the software runs without reaching the service. */
  readonly offlineDays: number;
}

export interface Refusals {
  /** A code of the interface. */
  readonly reason: string;
  readonly refusals: number;
  readonly lastAt: Date;
}
