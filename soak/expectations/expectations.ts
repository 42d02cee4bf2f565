import { isNormal, type MESSAGE_NOT_SENT, type MESSAGE_UNKNOWN } from '../load/operations.ts';
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

/** Answers to a webhook without a fault that are only counted: payment providers repeat it, so that nothing is lost. */
const REPEATED_WEBHOOKS: ReadonlySet<string> = new Set([
  '503 database_unavailable',
  '503 overloaded',
]);

/** A fault with its times, in milliseconds of `performance.now()`. */
export interface FaultWindow {
  readonly fault: Allowance;
  readonly from: number;
  /** How often it interrupts jobs, each time all that are in progress. */
  readonly interruptions: number;
  /** When the cause ended; null: it lasts. */
  causeEndedAt: number | null;
  /** When the service had recovered; null: not yet. */
  recoveredAt: number | null;
  /** When a request with an unusual outcome last ended. */
  lastUnusualAt: number | null;
  /** The number of each unusual outcome. */
  readonly outcomes: Map<string, number>;
}

/** A message of an outreach request, from the first attempt of the request until its answer. */
interface JudgedMessage {
  readonly outcome: typeof MESSAGE_NOT_SENT | typeof MESSAGE_UNKNOWN;
  readonly sentAt: number;
  readonly endedAt: number;
}

/**
 * Judges every outcome: without a fault only normal ones may appear; during a fault and until its recovery also those that the fault
 * allows.
 */
export class Expectations {
  readonly windows: FaultWindow[] = [];
  /** Webhooks that were answered 503 without a fault. */
  refusedWebhooks = 0;
  readonly #violations: Violations;

  constructor(violations: Violations) {
    this.#violations = violations;
  }

  /** Begins a fault, which lasts until its cause ends. */
  begin(fault: Allowance, now: number, interruptions = 0): FaultWindow {
    const window: FaultWindow = {
      fault,
      from: now,
      interruptions,
      causeEndedAt: null,
      recoveredAt: null,
      lastUnusualAt: null,
      outcomes: new Map(),
    };
    this.windows.push(window);
    return window;
  }

  judge(ended: Ended): void {
    const { operation, outcome } = ended;
    if (isNormal(operation, outcome)) return;
    const window = this.#attribute(operation, ended);
    if (window !== null) window.lastUnusualAt = ended.endedAt;
  }

  /**
   * Judges a message of an outreach request that was answered as not sent or unknown. The answer may come long after the recovery: a
   * repeated request waits until the killed process can no longer send.
   */
  judgeMessage(message: JudgedMessage): void {
    this.#attribute('an outreach message', message);
  }

  /** Counts an unusual outcome for the fault that allows it, else for the last one; null: there was no fault. */
  #attribute(subject: string, ended: Omit<Ended, 'dueAt' | 'operation'>): FaultWindow | null {
    const { outcome } = ended;
    const open = this.windows.filter((window) => overlaps(window, ended));
    // A request may wait from one fault into the next.
    const allowing = open.findLast(({ fault }) => fault.allowed.includes(outcome));
    const window = allowing ?? open.at(-1);
    if (window === undefined) {
      if (subject === 'webhook' && REPEATED_WEBHOOKS.has(outcome)) this.refusedWebhooks += 1;
      else this.#violations.add(`${subject} ended with "${outcome}" without a fault`);
      return null;
    }
    window.outcomes.set(outcome, (window.outcomes.get(outcome) ?? 0) + 1);
    if (allowing === undefined) {
      this.#violations.add(
        `${subject} ended with "${outcome}" during the fault "${window.fault.name}", which does not allow it`,
      );
    }
    return window;
  }
}

/** Whether a request was open at some time from the beginning of a fault until the end of its recovery. */
function overlaps(
  { causeEndedAt, fault, from }: FaultWindow,
  { endedAt, sentAt }: Pick<Ended, 'endedAt' | 'sentAt'>,
): boolean {
  const until = causeEndedAt === null ? Number.POSITIVE_INFINITY : causeEndedAt + fault.recoveryMs;
  return endedAt >= from && sentAt <= until;
}
