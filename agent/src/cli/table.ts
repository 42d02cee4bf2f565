import { paint } from './output.ts';

export type Rows = readonly (readonly string[])[];

/** A table with a header; nothing without rows. */
export function formatTable(header: readonly string[], rows: Rows): string {
  if (rows.length === 0) return '';
  const [first = '', ...lines] = alignColumns([
    header.map((name) => name.toUpperCase()),
    ...rows,
  ]).split('\n');
  return [paint('dim', first), ...lines].join('\n');
}

/** Rows of cells, each column as wide as its widest cell. */
export function alignColumns(rows: Rows): string {
  const columns = Math.max(0, ...rows.map((cells) => cells.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((cells) => cells[column]?.length ?? 0)),
  );
  return rows
    .map((cells) =>
      cells
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
