import type { RollupRun } from '#server/features/analytics/rules/rollup-marks.ts';
import { formatCsvLine } from '#server/lib/csv.ts';

import { type Cell, formatMoment, formatTable } from '../output.ts';
import { shortenText } from '../terminal-text.ts';

/** How a value is shown to people: a client's text may be missing, and a share is shown in percent. */
type ColumnKind = 'plain' | 'name' | 'version' | 'share';

/** What a report found. */
export interface Answer {
  readonly columns: readonly (readonly [name: string, kind: ColumnKind])[];
  readonly rows: readonly (readonly Cell[])[];
  /** The form for people, where that is not one line for each row. */
  readonly table?: () => string;
}

/** A report older than this gets a note that says so. */
const FRESH_MS = 15 * 60_000;

/** In columns of a terminal: one long value must not push the numbers of all rows out of sight. JSON and CSV have it whole. */
const MAX_CELL_WIDTH = 48;

/** A report as a table. */
export function toTable({ columns, rows, table }: Answer): string {
  if (rows.length === 0) return 'There is nothing in these days.';
  if (table !== undefined) return table();
  return formatTable(
    columns.map(([name]) => name.replaceAll('_', ' ')),
    rows.map((row) => row.map((cell, index) => shorten(formatCell(cell, columns[index]?.[1])))),
  );
}

function shorten(cell: Cell): Cell {
  return typeof cell === 'string' ? shortenText(cell, MAX_CELL_WIDTH) : cell;
}

/** A report as CSV; numbers stay numbers. */
export function toCsv({ columns, rows }: Answer): string {
  const lines = rows.map((row) =>
    row.map((cell, index) => {
      const kind = columns[index]?.[1];
      return kind === 'share' ? cell : formatCell(cell, kind);
    }),
  );
  return [columns.map(([name]) => name), ...lines].map(formatCsvLine).join('');
}

/** A report as objects, with null for what is summed up. */
export function toObjects({ columns, rows }: Answer): Record<string, Cell>[] {
  const names = columns.map(([name]) => name);
  return rows.map((row) =>
    Object.fromEntries(row.map((cell, index) => [names[index] ?? '', cell] as const)),
  );
}

/** A share in percent. */
export function formatShare(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

/** What to say when a report lacks the latest data; null: nothing. */
export function describeAge(last: RollupRun | null, now: Date): string | null {
  if (last === null) return 'Nothing has been summed up yet; latchkey report refresh does it now.';
  if (now.getTime() - last.finishedAt.getTime() <= FRESH_MS) return null;
  return `This is of ${formatMoment(last.finishedAt)}; latchkey report refresh brings it up to date.`;
}

function formatCell(cell: Cell, kind: ColumnKind | undefined): Cell {
  if (kind === 'share') return formatShare(Number(cell));
  if (kind === 'name' || kind === 'version') {
    if (cell === null) return '(all others)';
    if (cell === '') return kind === 'version' ? '(not told)' : '(empty)';
  }
  return cell;
}
