/** The result of a check of doctor. */
export interface Finding {
  readonly check: string;
  /** `warning`: the service runs; `failed`: it does not run, or not correctly. */
  readonly status: 'ok' | 'warning' | 'failed';
  /** The stable code of a problem, in dotted lower case. */
  readonly code?: string;
  /** The observation. */
  readonly symptom: string;
  readonly cause?: string;
  readonly fix?: string;
  /** The facts of a problem, for programs. */
  readonly facts?: Readonly<Record<string, unknown>>;
}

type Problem = Required<Pick<Finding, 'code' | 'symptom' | 'cause' | 'fix'>> &
  Pick<Finding, 'facts'>;

/** Capitalizes a clause and ends it with a full stop. */
export function toSentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}

export function ok(check: string, symptom: string): Finding {
  return { check, status: 'ok', symptom };
}

export function warning(check: string, problem: Problem): Finding {
  return { check, status: 'warning', ...problem };
}

/** Returns the warning in a list, or no finding. */
export function warningIf(condition: boolean, check: string, problem: Problem): Finding[] {
  return condition ? [warning(check, problem)] : [];
}

export function failure(check: string, problem: Problem): Finding {
  return { check, status: 'failed', ...problem };
}
