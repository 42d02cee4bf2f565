import { HISTORY_SLOTS, type Machine } from '../core/types.ts';
import type { Box } from './figure-layout.ts';
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

/** The paths of a curve, which a canvas fills and strokes. */
export interface CurvePaths {
  readonly area: Path2D;
  readonly line: Path2D;
  /** The times without values. */
  readonly gaps: Path2D;
}

export function makeCurvePaths(): CurvePaths {
  return { area: new Path2D(), line: new Path2D(), gaps: new Path2D() };
}

/**
 * Adds a curve to paths: a point for each pixel, with the largest value of its seconds, because a peak of one second must stay
 * visible in a narrow cell.
 */
export function traceCurve(
  paths: CurvePaths,
  values: Float32Array,
  box: Box,
  toRatio: (value: number) => number,
): void {
  const points = Math.min(HISTORY_SLOTS, Math.max(1, Math.floor(box.width)));
  const step = box.width / points;
  let runStart = -1;
  let gapStart = -1;
  for (let at = 0; at <= points; at += 1) {
    const value = at === points ? Number.NaN : findPeak(values, at, points);
    const isKnown = !Number.isNaN(value);
    const x = box.x + at * step;
    if (isKnown) {
      const y = box.y + (1 - toRatio(value)) * box.height;
      if (runStart === -1) paths.line.moveTo(x, y);
      paths.line.lineTo(x + step, y);
      if (runStart === -1) paths.area.moveTo(x, box.y + box.height);
      paths.area.lineTo(x, y);
      paths.area.lineTo(x + step, y);
      if (runStart === -1) runStart = x;
    }
    if (!isKnown && runStart !== -1) {
      paths.area.lineTo(x, box.y + box.height);
      runStart = -1;
    }
    if (!isKnown && gapStart === -1) gapStart = x;
    if ((isKnown || at === points) && gapStart !== -1) {
      if (x > gapStart) paths.gaps.rect(gapStart, box.y, x - gapStart, box.height);
      gapStart = -1;
    }
  }
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
 * Strokes curves with hairlines, one below the other. A browser without a graphics card computes the outline of each wider line: a
 * hundred curves with lines of two pixels took 14 % of a core at 3840 × 2160 pixels, and hairlines take 2 %.
 * @param width in CSS pixels
 */
export function strokeCurves(context: CanvasRenderingContext2D, line: Path2D, width: number): void {
  const pixel = 1 / devicePixelRatio;
  context.save();
  context.lineWidth = pixel;
  for (let drawn = 0; drawn < width; drawn += pixel) {
    context.stroke(line);
    context.translate(0, pixel);
  }
  context.restore();
}
