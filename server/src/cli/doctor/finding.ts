/** What one check of the doctor found. */
export interface Finding {
  readonly check: string;
  /** `warning` keeps the service running; `failed` does not, or not rightly. */
  readonly status: 'ok' | 'warning' | 'failed';
  /** What there is to see. */
  readonly symptom: string;
  /** Why it is so, when something is wrong. */
  readonly cause?: string;
  /** What to do about it. */
  readonly fix?: string;
}

/** How bad something is, and why. */
type Trouble = Pick<Finding, 'symptom'> & { readonly cause: string; readonly fix: string };

export function ok(check: string, symptom: string): Finding {
  return { check, status: 'ok', symptom };
}

export function warning(check: string, trouble: Trouble): Finding {
  return { check, status: 'warning', ...trouble };
}

export function failure(check: string, trouble: Trouble): Finding {
  return { check, status: 'failed', ...trouble };
}
