import { HISTORY_SLOTS, type Machine } from '../core/types.ts';
import { type CurvePart, drawCurves, readHistory, traceCurve } from './curve.ts';
import { type Box, CELL_MARGIN, type FigureLayout } from './figure-layout.ts';
import type { Palette, PaletteName } from './palette.ts';
import { formatValue, type Quantity, readLatest, readSlot } from './quantities.ts';

/** A machine of the figure. */
export interface FigureMachine {
  readonly machine: Machine;
  readonly tone: 'calm' | 'warning' | 'error';
}

/** What is drawn. */
export interface Picture {
  readonly layout: FigureLayout;
  readonly machines: readonly FigureMachine[];
  /** The titles of groups. */
  readonly captions: readonly string[];
  readonly quantity: Quantity;
  readonly toRatio: (value: number) => number;
  /** The slot under the cursor; null: the newest values are shown. */
  readonly cursor: number | null;
  /** The cell under the pointer; -1: none. */
  readonly pointed: number;
  /** The font size in pixels. */
  readonly fontSize: number;
}

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

/** The name begins with a mark, because color alone does not reach everybody. */
const TONES: Readonly<
  Record<
    FigureMachine['tone'],
    { readonly color: PaletteName; readonly back: PaletteName | null; readonly mark: string }
  >
> = {
  calm: { color: 'muted', back: null, mark: '' },
  warning: { color: 'warm', back: 'warm-back', mark: '▲ ' },
  error: { color: 'bad', back: 'bad-back', mark: '✕ ' },
};

/** Draws the cells of the figure. */
export class FigurePainter {
  readonly #context: CanvasRenderingContext2D;
  readonly #palette: Palette;
  readonly #values = new Float32Array(HISTORY_SLOTS);
  /** Names as they fit into the width of the last picture, because measuring is slow. */
  readonly #fitted = new Map<string, string>();
  #fittedFor = '';

  constructor(context: CanvasRenderingContext2D, palette: Palette) {
    this.#context = context;
    this.#palette = palette;
  }

  /** Draws everything. The canvas is as large as the layout, in pixels of the device. */
  paint(picture: Picture, width: number): void {
    const context = this.#context;
    context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    context.clearRect(0, 0, width, picture.layout.height);
    context.textBaseline = 'alphabetic';
    this.#paintBacks(picture);
    this.#paintCaptions(picture);
    this.#paintCurves(picture);
    this.#paintTexts(picture);
  }

  /** Marks the machines with problems, so that they are found from afar. */
  #paintBacks(picture: Picture): void {
    const context = this.#context;
    for (const [{ x, y, width, height }, { tone }] of this.#listCells(picture)) {
      const { back } = TONES[tone];
      if (back === null) continue;
      context.fillStyle = this.#palette.get(back);
      context.beginPath();
      context.roundRect(x - CELL_MARGIN, y - 2, width + 2 * CELL_MARGIN, height + 5, 5);
      context.fill();
    }
  }

  #paintCaptions({ layout, captions, fontSize }: Picture): void {
    const context = this.#context;
    context.font = `600 ${fontSize + 1}px ${FONT}`;
    context.fillStyle = this.#palette.get('ink');
    context.textAlign = 'left';
    for (const [at, box] of layout.captions.entries()) {
      context.fillText(captions[at] ?? '', box.x, box.y + box.height - 9);
    }
  }

  #paintCurves(picture: Picture): void {
    const context = this.#context;
    const { machines, layout, fontSize, quantity, toRatio, cursor } = picture;
    const plots = machines.flatMap(({ machine }, at) => {
      const cell = layout.cells[at];
      return cell === undefined ? [] : [{ machine, box: findPlot(cell, fontSize) }];
    });
    const trace = (part: CurvePart): void => {
      for (const { machine, box } of plots) {
        readHistory(quantity, machine, this.#values);
        traceCurve(context, part, { values: this.#values, box, toRatio });
      }
    };
    drawCurves(context, this.#palette, trace, fontSize > 13 ? 2 : 1);
    context.beginPath();
    for (const { box } of plots) addFrame(context, box, cursor);
    this.#fill(cursor === null ? 'line' : 'muted');
    context.beginPath();
    for (const { machine, box } of plots) addMark(context, machine, box);
    this.#fill('mark');
  }

  #fill(color: PaletteName): void {
    this.#context.fillStyle = this.#palette.get(color);
    this.#context.fill();
  }

  #paintTexts(picture: Picture): void {
    const context = this.#context;
    const { fontSize, quantity, cursor } = picture;
    context.font = `600 ${fontSize}px ${FONT}`;
    context.textAlign = 'right';
    context.fillStyle = this.#palette.get('ink');
    for (const [cell, { machine }] of this.#listCells(picture)) {
      if (!hasRoom(cell, picture)) continue;
      const value = describeAt(quantity, machine, cursor);
      context.fillText(value, cell.x + cell.width, cell.y + fontSize);
    }
    context.font = `500 ${fontSize}px ${FONT}`;
    context.textAlign = 'left';
    for (const [cell, { machine, tone }, at] of this.#listCells(picture)) {
      const { color, mark } = TONES[tone];
      const isPointed = at === picture.pointed;
      context.fillStyle = this.#palette.get(isPointed && tone === 'calm' ? 'ink' : color);
      const space = cell.width - (hasRoom(cell, picture) ? fontSize * measureValue(quantity) : 0);
      const name = this.#fit(`${mark}${machine.listed.name}`, space, context.font);
      context.fillText(name, cell.x, cell.y + fontSize);
    }
  }

  *#listCells({ layout, machines }: Picture): Generator<[Box, FigureMachine, number]> {
    for (const [at, each] of machines.entries()) {
      const cell = layout.cells[at];
      if (cell !== undefined) yield [cell, each, at];
    }
  }

  #fit(text: string, width: number, font: string): string {
    const key = `${font} ${Math.round(width)}`;
    if (key !== this.#fittedFor) this.#fitted.clear();
    this.#fittedFor = key;
    const known = this.#fitted.get(text);
    if (known !== undefined) return known;
    let fitted = text;
    while (fitted.length > 1 && this.#context.measureText(fitted).width > width) {
      fitted = `${fitted.slice(0, -2)}…`;
    }
    this.#fitted.set(text, fitted);
    return fitted;
  }
}

/** Returns the part of a cell below its texts. */
function findPlot({ x, y, width, height }: Box, fontSize: number): Box {
  const top = Math.round(fontSize * 1.5);
  return { x, y: y + top, width, height: Math.max(1, height - top - 1) };
}

/** The least width of a name; a narrower cell has no value. */
const NAME_EMS = 6;

/** Returns the width of a value in ems. */
function measureValue({ scale }: Quantity): number {
  return scale === 'rate' ? 5.6 : 3.6;
}

function hasRoom({ width }: Box, { fontSize, quantity }: Picture): boolean {
  return width >= fontSize * (NAME_EMS + measureValue(quantity));
}

function describeAt(quantity: Quantity, machine: Machine, cursor: number | null): string {
  if (cursor !== null) return formatValue(quantity, readSlot(quantity, machine, cursor));
  if (machine.state.kind === 'gap') return '–';
  return formatValue(quantity, readLatest(quantity, machine));
}

/** Adds the base line of a plot, and the line of the cursor. */
function addFrame(path: CanvasPath, box: Box, cursor: number | null): void {
  path.rect(box.x, box.y + box.height, box.width, 1);
  if (cursor === null) return;
  const x = box.x + ((cursor + 0.5) / HISTORY_SLOTS) * box.width;
  path.rect(x - 0.5, box.y, 1, box.height);
}

/** Adds the time of a reboot: a line with a flag. */
function addMark(path: CanvasPath, { rebootedAt, history }: Machine, box: Box): void {
  if (rebootedAt === null) return;
  const slot = HISTORY_SLOTS - (history.end - rebootedAt / 1000);
  if (slot < 0 || slot > HISTORY_SLOTS) return;
  const x = box.x + (slot / HISTORY_SLOTS) * box.width;
  path.rect(x - 0.75, box.y, 1.5, box.height);
  path.moveTo(x, box.y);
  path.lineTo(x + 7, box.y + 3.5);
  path.lineTo(x, box.y + 7);
  path.closePath();
}
