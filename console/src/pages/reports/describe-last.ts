import type { Figure } from '#console/ui/figures.tsx';
import { formatDay, formatNumber } from '#console/ui/format.ts';
import { isUnfinished, type PeriodLength } from '#console/ui/unfinished.ts';

const UNFINISHED: Readonly<Record<PeriodLength, string>> = {
  day: 'Today',
  week: 'This week',
  month: 'This month',
};

/** The figure of the last period of a report. @param start its first day */
export function describeLast(start: string, length: PeriodLength, value: number): Figure {
  const isOpen = isUnfinished(start, length);
  return {
    label: isOpen ? UNFINISHED[length] : `Last ${length}`,
    value: formatNumber(value),
    note: isOpen ? 'so far' : formatDay(start),
  };
}
