import type { TrialReport, TrialReportQuery } from '@latchkey/contract';

import { invalidRequest } from '#server/errors.ts';

import type { ReportDependencies } from '../analytics/reports/dependencies.ts';
import {
  findTrialRollup,
  listTrialProducts,
  type TrialProduct,
} from '../analytics/reports/trial-reports.ts';
import { listTrialWeeks } from '../analytics/reports/usage-reports.ts';
import { addDays, dayOf, parseDay, type Day, type DayRange } from '../analytics/rules/days.ts';

export type TrialReportDependencies = Pick<ReportDependencies, 'clock' | 'reports'>;

/** Twelve weeks, as on the command line. */
const DEFAULT_DAYS = 84;

/**
 * Reports how many trials led to a license, by week and by product.
 * @throws invalidRequest (422) for a day that is not one
 */
export async function countTrials(
  { clock, reports }: TrialReportDependencies,
  { from, product, to }: TrialReportQuery,
): Promise<TrialReport> {
  const now = clock.now();
  const range = readRange(from, to, dayOf(now));
  const productId = product ?? null;
  const [weeks, products, rolledAt] = await reports.read(async (db) => [
    await listTrialWeeks(db, range, now, productId),
    await listTrialProducts(db, range, productId),
    await findTrialRollup(db),
  ]);
  return {
    ...range,
    ...count(products),
    weeks: weeks.map(({ week, open, ...row }) => ({
      week,
      trials: row.trials,
      converted: row.paid,
      share: row.share,
      open,
    })),
    products: countBy(products, ({ productId: id }) => id).map(([id, rows]) => ({
      product_id: id,
      ...count(rows),
    })),
    purchases: countBy(products.filter(isConverted), ({ boughtProductId: id }) => id).map(
      ([id, rows]) => ({ product_id: id, converted: sum(rows) }),
    ),
    rolled_at: rolledAt?.toISOString() ?? null,
  };
}

const isConverted = ({ boughtProductId }: TrialProduct): boolean => boughtProductId !== '';

const sum = (rows: readonly TrialProduct[]): number =>
  rows.reduce((total, { trials }) => total + trials, 0);

function count(rows: readonly TrialProduct[]) {
  const trials = sum(rows);
  const converted = sum(rows.filter(isConverted));
  return { trials, converted, share: trials === 0 ? 0 : converted / trials };
}

/** Groups rows; the group with the most trials first. */
function countBy(
  rows: readonly TrialProduct[],
  keyOf: (row: TrialProduct) => string,
): [string, TrialProduct[]][] {
  return [...Map.groupBy(rows, keyOf)].toSorted(([, a], [, b]) => sum(b) - sum(a));
}

function readRange(from: string | undefined, to: string | undefined, today: Day): DayRange {
  const last = to === undefined ? today : readDay('to', to);
  return {
    from: from === undefined ? addDays(last, 1 - DEFAULT_DAYS) : readDay('from', from),
    to: last,
  };
}

function readDay(name: string, text: string): Day {
  const day = parseDay(text);
  if (day !== null) return day;
  const msg = 'Input should be a day such as 2026-11-01';
  throw invalidRequest([{ loc: ['query', name], msg, type: 'date_parsing' }]);
}
