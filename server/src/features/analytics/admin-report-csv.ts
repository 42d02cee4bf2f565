/** The CSV of reports for operators. */
import type { BreakdownItem } from '@latchkey/contract';

import type { CsvColumns } from '#server/lib/csv.ts';

/**
 * Returns the columns of a breakdown.
 * @param value the name of the value's column @param measure what is counted
 */
export function breakdownColumns(value: string, measure: string): CsvColumns<BreakdownItem> {
  return {
    [value]: (item) => nameOf(item.value),
    [measure]: (item) => item.count,
    share: (item) => item.share,
    [`previous_${measure}`]: (item) => item.previous_count,
    previous_share: (item) => item.previous_share,
    last_day: (item) => item.last_day,
  };
}

/** The same names as in the reports of the command line. */
function nameOf(value: string | null): string {
  if (value === null) return '(all others)';
  return value === '' ? '(unknown)' : value;
}
