import { isNormal } from '../load/operations.ts';
import type { Ended } from '../load/recorder.ts';
import type { Violations } from './violations.ts';

/** What a fault may cause, and for how long. */
export interface Allowance {
  readonly name: string;
  /** The outcomes that may appear beside the normal ones. */
  readonly allowed: readonly string[];
  /** The time after the end of the cause until which they may appear. */
  readonly recoveryMs: number;
}

/** A fault with its times, in milliseconds of `performance.now()`. */
export interface FaultWindow {
  readonly fault: Allowance;
  readonly from: number;
  /** When the cause ended; null: it lasts. */
  causeEndedAt: number | null;
  /** When the service had recovered; null: not yet. */
  recoveredAt: number | null;
  /** When a request with an unusual outcome last ended. */
  lastUnusualAt: number | null;
  /** The number of each unusual outcome. */
  readonly outcomes: Map<string, number>;
}

type Judged = Ended & { readonly sentAt: number };

/**
 * Judges every outcome: without a fault only normal ones may appear; during a fault and until its recovery also those that the fault
 * allows.
 */
export class Expectations {
  readonly windows: FaultWindow[] = [];
  readonly #violations: Violations;

  constructor(violations: Violations) {
    this.#violations = violations;
  }

  /** Begins a fault, which lasts until its cause ends. */
  begin(fault: Allowance, now: number): FaultWindow {
    const window: FaultWindow = {
      fault,
      from: now,
      causeEndedAt: null,
      recoveredAt: null,
      lastUnusualAt: null,
      outcomes: new Map(),
    };
    this.windows.push(window);
    return window;
  }

  judge(ended: Judged): void {
    const { operation, outcome } = ended;
    if (isNormal(operation, outcome)) return;
    const open = this.windows.filter((window) => overlaps(window, ended));
    // A request may wait from one fault into the next.
    const allowing = open.findLast(({ fault }) => fault.allowed.includes(outcome));
    const window = allowing ?? open.at(-1);
    if (window === undefined) {
      this.#violations.add(`${operation} ended with "${outcome}" without a fault`);
      return;
    }
    window.outcomes.set(outcome, (window.outcomes.get(outcome) ?? 0) + 1);
    window.lastUnusualAt = ended.endedAt;
    if (allowing !== undefined) return;
    this.#violations.add(
      `${operation} ended with "${outcome}" during the fault "${window.fault.name}", which does not allow it`,
    );
  }
}

/** Whether a request was open at some time from the beginning of a fault until the end of its recovery. */
function overlaps(
  { causeEndedAt, fault, from }: FaultWindow,
  { endedAt, sentAt }: Judged,
): boolean {
  const until = causeEndedAt === null ? Number.POSITIVE_INFINITY : causeEndedAt + fault.recoveryMs;
  return endedAt >= from && sentAt <= until;
}
