import { formatWhole } from './report/tables.ts';
import type { Day } from './run-day.ts';

/**
 * The largest share of the planned requests that may stay unsent. The load continues for a minute after a day of 20 minutes: if this
 * share is unsent then, the average rate was nine tenths of the planned one. With more, the peaks of the day were not reached, and kept promises
 * prove less than the report claims.
 */
const MAX_UNSENT_SHARE = 0.05;

/** How a run ended. Incomplete: nothing was broken, but too few of the planned requests were sent. */
export type Verdict = 'stopped' | 'broken' | 'incomplete' | 'kept';

export const EXIT_CODES: Readonly<Record<Verdict, number>> = {
  kept: 0,
  broken: 1,
  stopped: 1,
  incomplete: 3,
};

interface Outcome {
  readonly day: Pick<Day, 'planned' | 'unsent'>;
  /** A sentence for each broken promise. */
  readonly broken: readonly string[];
  /** Whether the run ended before its day. */
  readonly isStopped: boolean;
}

export function decideVerdict({ broken, day, isStopped }: Outcome): Verdict {
  if (isStopped) return 'stopped';
  if (broken.length > 0) return 'broken';
  return day.unsent > MAX_UNSENT_SHARE * day.planned ? 'incomplete' : 'kept';
}

const SENTENCES: Readonly<Record<Verdict, string>> = {
  kept: 'Every promise was kept.',
  broken: 'Promises were broken:',
  stopped: 'Stopped before the end of the day; nothing was compared.',
  incomplete:
    'No promise was broken, but too little was sent to prove them: this machine is too slow for this day.',
};

/** Returns the sentence of a verdict. */
export const describeVerdict = (verdict: Verdict): string => SENTENCES[verdict];

/** Describes how many planned requests were not sent: `12 of 1,000 (1.2 %)`. */
export function describeUnsent({ planned, unsent }: Pick<Day, 'planned' | 'unsent'>): string {
  const share = planned === 0 ? 0 : (100 * unsent) / planned;
  return `${formatWhole(unsent)} of ${formatWhole(planned)} (${share.toFixed(1)} %)`;
}
