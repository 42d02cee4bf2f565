import type { Check } from '../audit/check.ts';
import type { FaultWindow } from '../expectations/expectations.ts';
import type { SoakOptions } from '../options.ts';
import type { Day } from '../run-day.ts';
import type { Verdict } from '../verdict.ts';

/** Everything that a report shows. */
export interface SoakReport {
  readonly options: SoakOptions;
  readonly day: Day;
  readonly checks: readonly Check[];
  /** A sentence for each broken promise. */
  readonly broken: readonly string[];
  readonly verdict: Verdict;
  readonly windows: readonly FaultWindow[];
}
