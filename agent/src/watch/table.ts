import { fitText, type Line, span, type Span, type Style, widthOf } from './text.ts';

/** A cell: a text, or pieces of a width of their own. */
export type Cell = string | Span | readonly Span[];

/** Rows under headings. */
export interface Table {
  /** The first one is the title of all. */
  readonly headings: readonly string[];
  /** The most important first: what there is no room for is only counted. */
  readonly rows: readonly (readonly Cell[])[];
}

const GAP = '  ';
const MIN_NAME_WIDTH = 8;

/** Draws a table: names on the left, figures on the right. Columns that there is no room for are left out, the last first. */
export function drawTable({ headings, rows }: Table, width: number): Line[] {
  if (rows.length === 0) return [];
  const widths = chooseWidths(headings, rows, width);
  const title = joinCells(
    headings.map((text, at) => span(text, at === 0 ? 'bold' : 'dim')),
    widths,
  );
  return [title, ...rows.map((cells) => joinCells(cells, widths))];
}

function chooseWidths(
  headings: readonly string[],
  rows: Table['rows'],
  width: number,
): readonly number[] {
  const others = headings
    .slice(1)
    .map((heading, at) =>
      Math.max(widthOf(heading), ...rows.map((cells) => cellWidth(cells[at + 1] ?? ''))),
    );
  while (others.length > 0 && width - sumOf(others) < MIN_NAME_WIDTH) others.pop();
  return [Math.max(0, width - sumOf(others)), ...others];
}

function sumOf(widths: readonly number[]): number {
  return widths.reduce((sum, each) => sum + each + GAP.length, 0);
}

function joinCells(cells: readonly Cell[], widths: readonly number[]): Line {
  return widths.flatMap((width, at) => {
    const cell = cells[at] ?? '';
    if (isSpans(cell)) return [span(GAP), ...cell];
    const { text, style } = toSpan(cell);
    if (at === 0) return [span(fitText(text, width), style)];
    return [span(GAP), span(fitText(text, width, 'right'), style)];
  });
}

function cellWidth(cell: Cell): number {
  if (isSpans(cell)) return cell.reduce((sum, { text }) => sum + widthOf(text), 0);
  return widthOf(toSpan(cell).text);
}

function toSpan(cell: string | Span): { text: string; style: Style } {
  return typeof cell === 'string' ? span(cell) : cell;
}

function isSpans(cell: Cell): cell is readonly Span[] {
  return Array.isArray(cell);
}
