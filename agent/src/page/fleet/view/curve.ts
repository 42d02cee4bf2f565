import { HISTORY_SLOTS, type Machine } from '../core/types.ts';
import type { Box } from './figure-layout.ts';
import type { Palette } from './palette.ts';
import type { Quantity } from './quantities.ts';

/** Reads the history of a quantity into an array; NaN in gaps. */
export function readHistory(
  { figures, isPerProcessor }: Quantity,
  { history, host }: Machine,
  into: Float32Array,
): void {
  const [first, second] = figures.map((figure) => history.columns[figure]);
  if (first === undefined) return;
  into.set(first);
  if (second !== undefined) {
    for (let slot = 0; slot < HISTORY_SLOTS; slot += 1) {
      const value = second[slot] ?? Number.NaN;
      const known = into[slot] ?? Number.NaN;
      if (!Number.isNaN(value)) into[slot] = Number.isNaN(known) ? value : known + value;
    }
  }
  if (isPerProcessor !== true) return;
  const processors = host?.cpu_logical_count ?? 1;
  for (let slot = 0; slot < HISTORY_SLOTS; slot += 1) {
    into[slot] = (into[slot] ?? Number.NaN) / processors;
  }
}

/** Returns the largest value of all machines; NaN without any. */
export function findLargest(quantity: Quantity, machines: Iterable<Machine>): number {
  const values = new Float32Array(HISTORY_SLOTS);
  let largest = Number.NaN;
  for (const machine of machines) {
    readHistory(quantity, machine, values);
    for (const value of values) if (!(value <= largest) && !Number.isNaN(value)) largest = value;
  }
  return largest;
}

/** A path that is being built: the current one of a canvas. */
type Path = Pick<CanvasPath, 'lineTo' | 'moveTo' | 'rect'>;

/** A part of a curve. */
export type CurvePart = 'area' | 'gaps' | 'line';

/** A curve to draw. */
interface Curve {
  readonly values: Float32Array;
  readonly box: Box;
  readonly toRatio: (value: number) => number;
}

/**
 * Adds a part of a curve to a path: a point for each pixel, with the largest value of its seconds, because a peak of one second must
 * stay visible in a narrow cell. `gaps` are the times without values.
 */
export function traceCurve(path: Path, part: CurvePart, curve: Curve): void {
  const { values, box } = curve;
  const points = Math.min(HISTORY_SLOTS, Math.max(1, Math.floor(box.width)));
  const step = box.width / points;
  const isGapAt = (at: number): boolean => Number.isNaN(findPeak(values, at, points));
  for (let from = 0, until = 1; from < points; from = until, until += 1) {
    const isGap = isGapAt(from);
    while (until < points && isGapAt(until) === isGap) until += 1;
    if (isGap && part === 'gaps') {
      path.rect(box.x + from * step, box.y, (until - from) * step, box.height);
    } else if (!isGap && part !== 'gaps') traceRun(path, part, curve, { from, until, points });
  }
}

/** Points of a curve without a gap between them. */
interface Run {
  readonly from: number;
  readonly until: number;
  /** The number of points of the whole curve. */
  readonly points: number;
}

function traceRun(
  path: Path,
  part: 'area' | 'line',
  { values, box, toRatio }: Curve,
  { from, until, points }: Run,
): void {
  const step = box.width / points;
  const bottom = box.y + box.height;
  if (part === 'area') path.moveTo(box.x + from * step, bottom);
  for (let at = from; at < until; at += 1) {
    const x = box.x + at * step;
    const y = box.y + (1 - toRatio(findPeak(values, at, points))) * box.height;
    if (part === 'area') path.lineTo(x, y);
    else if (at === from) path.moveTo(x, y);
    path.lineTo(x + step, y);
  }
  if (part === 'area') path.lineTo(box.x + until * step, bottom);
}

/** Returns the largest value of a point's seconds; NaN when all are missing. */
function findPeak(values: Float32Array, at: number, points: number): number {
  const from = Math.floor((at * HISTORY_SLOTS) / points);
  const until = Math.floor(((at + 1) * HISTORY_SLOTS) / points);
  let peak = Number.NaN;
  for (let slot = from; slot < until; slot += 1) {
    const value = values[slot] ?? Number.NaN;
    if (!(value <= peak) && !Number.isNaN(value)) peak = value;
  }
  return peak;
}

/**
 * Draws curves with the current path of a canvas. Objects of `Path2D` would be kept until a garbage collection, which they do not cause:
 * those of a hundred machines were 1.5 MB a second.
 * @param trace adds a part of all curves to the path of the canvas
 * @param lineWidth in CSS pixels
 */
export function drawCurves(
  context: CanvasRenderingContext2D,
  palette: Palette,
  trace: (part: CurvePart) => void,
  lineWidth: number,
): void {
  context.fillStyle = palette.hatch;
  context.beginPath();
  trace('gaps');
  context.fill();
  context.fillStyle = palette.get('area');
  context.beginPath();
  trace('area');
  context.fill();
  context.strokeStyle = palette.get('curve');
  strokeCurves(context, () => trace('line'), lineWidth);
}

/**
 * Strokes curves with hairlines, one below the other. A browser without a graphics card computes the outline of each wider line: a
 * hundred curves with lines of two pixels took 14 % of a core at 3840 × 2160 pixels, and hairlines take 2 %.
 * @param trace builds the path
 * @param width in CSS pixels
 */
function strokeCurves(context: CanvasRenderingContext2D, trace: () => void, width: number): void {
  const pixel = 1 / devicePixelRatio;
  context.save();
  context.lineWidth = pixel;
  for (let drawn = 0; drawn < width; drawn += pixel) {
    context.beginPath();
    trace();
    context.stroke();
    context.translate(0, pixel);
  }
  context.restore();
}
