import { span, type Line, type Span, type Style } from './text.ts';

const LEVELS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const PARTS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** From these on, somebody should look, and something is wrong. */
const WARN_RATIO = 0.75;
const ALARM_RATIO = 0.9;

/** The colour of a ratio of something that runs out. */
export function styleOfRatio(ratio: number | undefined): Style {
  if (ratio === undefined) return 'dim';
  if (ratio >= ALARM_RATIO) return 'red';
  return ratio >= WARN_RATIO ? 'yellow' : 'green';
}

/** A bar of a width, filled by a ratio to an eighth of a column. */
export function drawBar(ratio: number | undefined, width: number): Span[] {
  const eighths = Math.round(limit(ratio ?? 0) * width * 8);
  const filled = `${'█'.repeat(Math.floor(eighths / 8))}${PARTS[eighths % 8] ?? ''}`;
  return [
    span(filled, styleOfRatio(ratio)),
    span('·'.repeat(Math.max(0, width - filled.length)), 'dim'),
  ];
}

/** One column for each value. */
export function drawLevels(ratios: readonly (number | undefined)[]): Line {
  return ratios.map((ratio) => span(pickLevel(ratio), styleOfRatio(ratio)));
}

/**
 * A chart of the newest values, a column for each; what is not known stays empty.
 * @param highest what fills the height
 */
export function drawChart(
  values: readonly (number | undefined)[],
  { width, height, highest, style }: ChartOptions,
): Line[] {
  const shown = values.slice(-width);
  const columns = [...Array<undefined>(width - shown.length), ...shown];
  return Array.from({ length: height }, (_, row) => [
    span(
      columns.map((value) => drawPoint(value, highest, height, height - 1 - row)).join(''),
      style,
    ),
  ]);
}

/** The size of a chart. */
export interface ChartOptions {
  readonly width: number;
  readonly height: number;
  readonly highest: number;
  readonly style: Style;
}

function drawPoint(
  value: number | undefined,
  highest: number,
  height: number,
  rowFromBelow: number,
): string {
  if (value === undefined) return ' ';
  const eighths = Math.round(limit(value / highest) * height * 8) - rowFromBelow * 8;
  // What is nothing still shows that it was measured.
  if (eighths < 1) return rowFromBelow === 0 ? '▁' : ' ';
  return LEVELS[Math.min(eighths, 8) - 1] ?? ' ';
}

function pickLevel(ratio: number | undefined): string {
  if (ratio === undefined) return ' ';
  return LEVELS[Math.max(0, Math.round(limit(ratio) * 8) - 1)] ?? ' ';
}

function limit(ratio: number): number {
  return Math.min(1, Math.max(0, ratio));
}
