import { readClock, type ClockMemory } from '../clock/clock.ts';
import type { Claims } from '../tokens/claims.ts';
import { findTimeProblem } from '../tokens/verify.ts';

interface Common {
  /** Whether the last request to the service since opening was answered. */
  readonly source: 'service' | 'kept';
  /** When the service answered last, RFC 3339 in UTC; null: never. */
  readonly lastAnswerAt: string | null;
  /** Whether the device's clock was set back. Ask the user; nothing is locked. */
  readonly clockWentBack: boolean;
}

interface Terms {
  readonly tier: string | null;
  /** The end of the entitlement, RFC 3339 in UTC. */
  readonly until: string;
  /** Whole days until then, rounded up, never negative. */
  readonly daysLeft: number;
}

interface NoTerms {
  readonly tier: null;
  readonly features: readonly never[];
  readonly until: null;
  readonly daysLeft: null;
}

/** The program may run: a genuine entitlement is in force. */
export interface Running extends Common, Terms {
  readonly kind: 'licensed' | 'trial';
  readonly mayRun: true;
  readonly features: readonly string[];
  readonly reason: null;
}

/** The entitlement has ended: of itself (it is renewed with the next answer), or with the license. */
export interface Ended extends Common, Terms {
  readonly kind: 'ended';
  readonly mayRun: false;
  readonly features: readonly never[];
  readonly reason: 'entitlement_expired' | 'license_expired';
}

/** The service refused the license; `reason` is its code. */
export interface RefusedState extends Common, NoTerms {
  readonly kind: 'refused';
  readonly mayRun: false;
  readonly reason: string;
}

/** There is no license, or no entitlement of this machine. */
export interface NoneState extends Common, NoTerms {
  readonly kind: 'none';
  readonly mayRun: false;
  readonly reason: 'not_activated' | 'entitlement_invalid';
}

/** What a program may do now, and why. */
export type LicenseState = Running | Ended | RefusedState | NoneState;

/** What a state is derived from. */
export interface Facts {
  /** Whether a key or an entitlement is kept. */
  readonly isActivated: boolean;
  /** The claims of the kept entitlement if it is genuine. */
  readonly claims: Claims | null;
  /** The code of the service's refusal. */
  readonly refusal: string | null;
  readonly clock: ClockMemory;
  readonly deviceMs: number;
  readonly isAnswered: boolean;
  readonly lastAnswerAt: string | null;
}

const DAY_MS = 86_400_000;

const NO_TERMS: NoTerms = { tier: null, features: [], until: null, daysLeft: null };

/** Derives the state: no request, no exception. */
export function deriveState(facts: Facts): LicenseState {
  const { nowMs, wentBack } = readClock(facts.clock, facts.deviceMs);
  const common: Common = {
    source: facts.isAnswered ? 'service' : 'kept',
    lastAnswerAt: facts.lastAnswerAt,
    clockWentBack: wentBack,
  };
  if (!facts.isActivated) return none(common, 'not_activated');
  if (facts.refusal !== null) {
    return { ...common, ...NO_TERMS, kind: 'refused', mayRun: false, reason: facts.refusal };
  }
  const { claims } = facts;
  const problem = claims && findTimeProblem(claims, nowMs);
  if (claims === null || problem === 'early') return none(common, 'entitlement_invalid');
  const terms = readTerms(claims, nowMs);
  if (problem === 'late') {
    const reason = endOf(claims, nowMs);
    return { ...common, ...terms, kind: 'ended', mayRun: false, reason, features: [] };
  }
  const kind = claims.trial ? 'trial' : 'licensed';
  return { ...common, ...terms, kind, mayRun: true, reason: null, features: claims.features };
}

function none(common: Common, reason: NoneState['reason']): NoneState {
  return { ...common, ...NO_TERMS, kind: 'none', mayRun: false, reason };
}

function endOf({ licenseExpiresAt }: Claims, nowMs: number): Ended['reason'] {
  const hasExpired = licenseExpiresAt !== null && licenseExpiresAt * 1000 <= nowMs;
  return hasExpired ? 'license_expired' : 'entitlement_expired';
}

function readTerms({ exp, tier }: Claims, nowMs: number): Terms {
  const endMs = exp * 1000;
  const daysLeft = Math.max(0, Math.ceil((endMs - nowMs) / DAY_MS));
  return { tier, until: formatTime(endMs), daysLeft };
}

/** The largest time of ECMAScript: a time beyond it has no text. */
const MAX_TIME_MS = 8.64e15;

/** Formats a time in RFC 3339, in UTC. @param milliseconds since 1970 */
export function formatTime(milliseconds: number): string {
  const limited = Math.min(MAX_TIME_MS, Math.max(-MAX_TIME_MS, milliseconds));
  return new Date(limited).toISOString();
}
