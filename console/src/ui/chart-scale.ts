/** The scales of a chart. */

/** Steps of a readable scale, times a power of ten. */
const NICE = [1, 2, 5, 10];

/**
 * Returns the labelled values of a vertical scale from zero: whole numbers at even distances, the last one not below the
 * largest value.
 */
export function chooseTicks(largest: number, count: number): number[] {
  const rough = Math.max(1, largest / count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * (NICE.find((each) => each * power >= rough) ?? 10);
  const last = Math.max(1, Math.ceil(largest / step));
  return Array.from({ length: last + 1 }, (_, index) => index * step);
}

/** Returns the indexes of a horizontal scale that are labelled: at most `most`, at even distances, with the last one. */
export function chooseLabels(count: number, most: number): number[] {
  const step = Math.max(1, Math.ceil(count / Math.max(1, most)));
  const indexes: number[] = [];
  for (let index = count - 1; index >= 0; index -= step) indexes.unshift(index);
  return indexes;
}

/** Returns the path of a line; a missing value interrupts it, and a single value is a dot. */
export function drawLine(
  values: readonly (number | null)[],
  x: (index: number) => number,
  y: (value: number) => number,
): string {
  let path = '';
  let isDrawing = false;
  for (const [index, value] of values.entries()) {
    if (value === null) isDrawing = false;
    else {
      const point = `${round(x(index))} ${round(y(value))}`;
      // The line to the same point draws a dot with round caps.
      path += isDrawing ? `L${point}` : `M${point}L${point}`;
      isDrawing = true;
    }
  }
  return path;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
