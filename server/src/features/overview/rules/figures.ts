import { FIGURE_DAYS, type Figure } from '@latchkey/contract';

/** The numbers of a day; null: not rolled up. */
interface Day {
  readonly usable: number | null;
  readonly created: number | null;
  readonly trials: number;
  readonly converted: number;
  readonly machines: number;
}

type Summary = (days: readonly (number | null)[]) => number | null;

/** Of a number that is counted at the end of each day: the newest one. */
const newest: Summary = (days) => days.findLast((value) => value !== null) ?? null;

/** Null if no day was rolled up. */
const total: Summary = (days) => {
  const known = days.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
};

const average: Summary = (days) => {
  const sum = total(days);
  return sum === null ? null : Math.round((sum / days.length) * 10) / 10;
};

/** Summarizes the last 30 days and the 30 before. @param days the 60 days, oldest first; the last one is today */
export function listFigures(days: readonly Day[]): Figure[] {
  return [
    summarize('usable_licenses', days, ({ usable }) => usable, newest),
    summarize('new_licenses', days, ({ created }) => created, total),
    summarize('trials_started', days, ({ trials }) => trials, total),
    summarize('trials_converted', days, ({ converted }) => converted, total),
    summarizeMachines(days),
  ];
}

function summarize(
  name: Figure['name'],
  days: readonly Day[],
  read: (day: Day) => number | null,
  summary: Summary,
): Figure {
  const numbers = days.map(read);
  const current = numbers.slice(-FIGURE_DAYS);
  const previous = numbers.slice(-2 * FIGURE_DAYS, -FIGURE_DAYS);
  return {
    name,
    value: summary(current),
    previous: summary(previous),
    days: current,
    previous_days: previous,
  };
}

/** Today is not complete and would lower the average. */
function summarizeMachines(days: readonly Day[]): Figure {
  const figure = summarize('active_machines', days, ({ machines }) => machines, average);
  return { ...figure, value: average(figure.days.slice(0, -1)) };
}
