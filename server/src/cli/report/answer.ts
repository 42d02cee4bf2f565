/** The answer of a report as a table, CSV or JSON. */
import type { RollupRun } from '#server/features/analytics/rules/rollup-marks.ts';
import { formatCsvLine } from '#server/lib/csv.ts';
import { formatTimestamp } from '#server/lib/text.ts';

import { type Cell, formatTable } from '../table.ts';
import { shortenText } from '../terminal-text.ts';

export interface Answer {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  /** The table for a terminal, if it does not have one line for each row. */
  readonly table?: () => string;
}

/** A report older than this is marked as outdated. */
const FRESH_MS = 15 * 60_000;

/** In columns of a terminal, so that a long value does not hide the numbers. JSON and CSV have the whole value. */
const MAX_CELL_WIDTH = 48;

export function toTable({ columns, rows, table }: Answer): string {
  if (rows.length === 0) return 'No data for these days.';
  if (table !== undefined) return table();
  return formatTable(
    columns.map((name) => name.replaceAll('_', ' ')),
    rows.map((row) => row.map((cell, index) => shorten(formatCell(cell, columns[index])))),
  );
}

function formatCell(cell: Cell, column: string | undefined): Cell {
  return column === 'share' ? formatShare(Number(cell)) : nameMissing(cell, column);
}

function shorten(cell: Cell): Cell {
  return typeof cell === 'string' ? shortenText(cell, MAX_CELL_WIDTH) : cell;
}

/** Formats an answer as CSV; numbers stay numbers. */
export function toCsv({ columns, rows }: Answer): string {
  const lines = rows.map((row) => row.map((cell, index) => nameMissing(cell, columns[index])));
  return [columns, ...lines].map(formatCsvLine).join('');
}

/** Converts an answer to objects, with null for aggregated values. */
export function toObjects({ columns, rows }: Answer): Record<string, Cell>[] {
  return rows.map((row) =>
    Object.fromEntries(row.map((cell, index) => [columns[index] ?? '', cell] as const)),
  );
}

/** Columns that are null for the sum of the rarest values, and the name of an empty value in each. */
const EMPTY_VALUES: Readonly<Record<string, string>> = {
  name: '(empty)',
  key: '(empty)',
  value: '(empty)',
  version: '(unknown)',
  system: '(unknown)',
};

function nameMissing(cell: Cell, column = ''): Cell {
  const empty = EMPTY_VALUES[column];
  if (empty === undefined) return cell;
  return cell === '' ? empty : (cell ?? '(all others)');
}

/** Formats a share as a percentage. */
export function formatShare(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

/** Returns a note for a report without the latest data; null: it is current. */
export function describeAge(last: RollupRun | null, now: Date): string | null {
  if (last === null)
    return 'Reports are empty before the first roll-up: run latchkey report refresh.';
  if (now.getTime() - last.finishedAt.getTime() <= FRESH_MS) return null;
  return `Data until ${formatTimestamp(last.finishedAt)}: latchkey report refresh updates it.`;
}
