/** A rectangle in CSS pixels. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** The places of all cells of the figure. */
export interface FigureLayout {
  readonly height: number;
  /** One for each machine, group after group. */
  readonly cells: readonly Box[];
  /** One for each group with a caption. */
  readonly captions: readonly Box[];
}

interface LayoutOptions {
  readonly width: number;
  /** The height to fill; null: as high as needed. */
  readonly height: number | null;
  /** The height in sight: cells grow up to it. */
  readonly room: number;
  /** The number of machines of each group. */
  readonly groups: readonly number[];
  readonly hasCaptions: boolean;
  /** Whether values are as long as `93.5 MB/s`. */
  readonly hasWideValues: boolean;
}

const CAPTION_HEIGHT = 24;
const GAP = 10;
/** The margin at the edges, for the background of machines with problems. */
export const CELL_MARGIN = 4;
const LEAST_WIDTH = 104;
const USUAL_WIDTH = 150;
const WIDTH_OF_MANY = 116;
const WIDTH_OF_WIDE = 146;
const MANY = 24;

/** Few machines get higher cells. */
const HEIGHTS: readonly (readonly [machines: number, height: number])[] = [
  [2, 160],
  [6, 110],
  [MANY, 80],
  [Infinity, 48],
];

/** Cells grow into a free height, but stay wider than high. */
const LEAST_SHAPE = 1.7;
const MOST_HEIGHT = 240;

/** More curves in a row are hard to compare. */
const MOST_COLUMNS = 16;

/** A cell this many times as wide as high is easy to read. */
const FAVORED_SHAPE = 2.4;

/** Places one cell for each machine in rows; each group begins a row. */
export function layOutFigure(options: LayoutOptions): FigureLayout {
  const { height, groups } = options;
  const width = options.width - 2 * CELL_MARGIN;
  const count = groups.reduce((sum, each) => sum + each, 0);
  if (count === 0 || width <= 0) return { height: 0, cells: [], captions: [] };
  if (height !== null) return fill(options, count, height);
  const fitting = Math.floor((width + GAP) / (chooseLeastWidth(options, count) + GAP));
  const columns = Math.max(1, Math.min(fitting, MOST_COLUMNS, Math.max(...groups)));
  const [, least] = HEIGHTS.find(([most]) => count <= most) ?? [0, 48];
  const free = measureRows(options, columns, options.room);
  const most = Math.min(MOST_HEIGHT, measureColumns(options, columns) / LEAST_SHAPE);
  return place(options, columns, Math.max(least, Math.min(free, most)));
}

function chooseLeastWidth({ width, hasWideValues }: LayoutOptions, count: number): number {
  if (hasWideValues) return WIDTH_OF_WIDE;
  if (width < 480) return LEAST_WIDTH;
  return count <= MANY ? USUAL_WIDTH : WIDTH_OF_MANY;
}

/** Chooses the number of columns whose cells have the best shape. */
function fill(options: LayoutOptions, count: number, height: number): FigureLayout {
  let best = { columns: 1, cellHeight: height, fault: Infinity };
  for (let columns = 1; columns <= count; columns += 1) {
    const cellHeight = measureRows(options, columns, height);
    const cellWidth = measureColumns(options, columns);
    if (cellHeight <= 0 || cellWidth <= 0) continue;
    const fault = Math.abs(Math.log(cellWidth / cellHeight / FAVORED_SHAPE));
    if (fault < best.fault) best = { columns, cellHeight, fault };
  }
  return place(options, best.columns, best.cellHeight);
}

/** Returns the height of cells that fill a height. */
function measureRows(
  { groups, hasCaptions }: LayoutOptions,
  columns: number,
  height: number,
): number {
  const rows = groups.reduce((sum, each) => sum + Math.ceil(each / columns), 0);
  const captions = hasCaptions ? groups.length * CAPTION_HEIGHT : 0;
  return (height - captions - 2 * CELL_MARGIN) / rows - GAP;
}

function measureColumns({ width }: LayoutOptions, columns: number): number {
  return (width - 2 * CELL_MARGIN + GAP) / columns - GAP;
}

function place(options: LayoutOptions, columns: number, cellHeight: number): FigureLayout {
  const { width, groups, hasCaptions } = options;
  const cellWidth = measureColumns(options, columns);
  const cells: Box[] = [];
  const captions: Box[] = [];
  let y = 2;
  for (const count of groups) {
    if (hasCaptions) {
      captions.push({ x: CELL_MARGIN, y, width, height: CAPTION_HEIGHT });
      y += CAPTION_HEIGHT;
    }
    for (let at = 0; at < count; at += 1) {
      const x = CELL_MARGIN + (at % columns) * (cellWidth + GAP);
      const row = Math.floor(at / columns);
      const top = y + row * (cellHeight + GAP);
      cells.push({ x, y: top, width: cellWidth, height: cellHeight });
    }
    y += Math.ceil(count / columns) * (cellHeight + GAP);
  }
  return { height: Math.max(0, y - GAP + CELL_MARGIN), cells, captions };
}

/** Finds the cell at a point; -1 between cells. */
export function findCell({ cells }: FigureLayout, x: number, y: number): number {
  return cells.findIndex(
    (box) => x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height,
  );
}
