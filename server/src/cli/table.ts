import type { StoredAuditEntry } from '#server/features/audit/list-entries.ts';
import { formatTimestamp } from '#server/lib/text.ts';

import { paint } from './output.ts';
import { cleanText, padText, shortenText, widthOf } from './terminal-text.ts';

/** A value in a table or a list of fields; null is shown as a dash. */
export type Cell = string | number | boolean | Date | null;

/** The columns of a table: each a heading and the value of a row. */
type Columns<Row> = readonly (readonly [heading: string, read: (row: Row) => Cell])[];

/** Formats rows as a table, or returns `empty` without rows. */
export function formatRows<Row>(
  rows: readonly Row[],
  empty: string,
  columns: Columns<Row>,
  width?: number,
): string {
  if (rows.length === 0) return empty;
  return formatTable(
    columns.map(([heading]) => heading),
    rows.map((row) => columns.map(([, read]) => read(row))),
    width,
  );
}

/** Formats lines of `name  value` with aligned values. */
export function formatFields(fields: readonly (readonly [string, Cell])[]): string {
  const width = Math.max(...fields.map(([name]) => name.length));
  return fields
    .map(([name, value]) => `${paint('dim', name.padEnd(width))}  ${formatCell(value)}`)
    .join('\n');
}

/** Formats changes by operators; an empty text without changes. */
export function formatHistory(
  history: readonly Pick<StoredAuditEntry, 'occurredAt' | 'actor' | 'action' | 'reason'>[],
): string {
  return formatRows(history, '', [
    ['time', (entry) => entry.occurredAt],
    ['actor', (entry) => entry.actor],
    ['action', (entry) => entry.action],
    ['reason', (entry) => entry.reason],
  ]);
}

/** Joins the parts of an output that are not empty. */
export function joinSections(...sections: readonly string[]): string {
  return sections.filter((section) => section !== '').join('\n\n');
}

const GAP = '  ';

/** The minimum width of a column that is shortened. */
const MIN_WIDTH = 8;

/**
 * Formats a table with a header.
 * @param width of the terminal: the widest columns except the first are shortened to fit; undefined: no limit
 */
export function formatTable(
  header: readonly string[],
  rows: readonly (readonly Cell[])[],
  width?: number,
): string {
  const texts = rows.map((row) => row.map(formatCell));
  const natural = header.map((name, column) =>
    Math.max(name.length, ...texts.map((row) => widthOf(row[column] ?? ''))),
  );
  const gaps = GAP.length * (header.length - 1);
  const widths = width === undefined ? natural : shrink(natural, width - gaps);
  const formatRow = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => padText(shortenText(cell, widths[column] ?? 0), widths[column] ?? 0))
      .join(GAP)
      .trimEnd();
  const heading = formatRow(header.map((name) => name.toUpperCase()));
  return [paint('dim', heading), ...texts.map(formatRow)].join('\n');
}

function shrink(natural: readonly number[], available: number): number[] {
  const widths = [...natural];
  let excess = widths.reduce((sum, width) => sum + width, 0) - available;
  for (; excess > 0; excess -= 1) {
    const widest = Math.max(...widths.slice(1));
    if (widest <= MIN_WIDTH) break;
    widths[widths.lastIndexOf(widest)] = widest - 1;
  }
  return widths;
}

/** Formats a value on one line. */
function formatCell(value: Cell): string {
  if (value === null) return '–';
  if (value instanceof Date) return formatTimestamp(value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return cleanText(String(value));
}
