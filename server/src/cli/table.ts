import { type Cell, formatCell, formatTable } from './output.ts';
import { shortenText, widthOf } from './terminal-text.ts';

/** Between two columns, as `formatTable` leaves it. */
const GAP = 2;

/** A column that is shortened keeps at least this much. */
const MIN_WIDTH = 8;

/**
 * A table that is no wider than the terminal, as far as 8 columns for each of its own allow that: the widest ones are
 * shortened first, but never the first one.
 * @param width of the terminal in columns; undefined where the output is no terminal: nothing is shortened
 */
export function fitTable(
  header: readonly string[],
  rows: readonly (readonly Cell[])[],
  width: number | undefined,
): string {
  const texts = rows.map((row) => row.map(formatCell));
  if (width === undefined) return formatTable(header, texts);
  const natural = header.map((name, column) =>
    Math.max(name.length, ...texts.map((row) => widthOf(row[column] ?? ''))),
  );
  const widths = shrink(natural, width - GAP * (header.length - 1));
  const fitted = texts.map((row) =>
    row.map((text, column) => shortenText(text, widths[column] ?? MIN_WIDTH)),
  );
  return formatTable(header, fitted);
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
