import type { AgentHistoryPoint } from '@latchkey/contract';

import { type Line, span, type Span, type Style } from './text.ts';

const MIN_CHART_WIDTH = 6;

/** The minimum scale of traffic charts, so that noise stays small. */
const MIN_BYTES_PER_SECOND = 16 * 1024;

/** A value over time. */
export interface Series {
  readonly name: string;
  readonly values: readonly (number | undefined)[];
  readonly highest: number;
  readonly style: Style;
}

/** Lists the series of processor, memory, network and disks. */
export function listSeries(points: readonly AgentHistoryPoint[]): [Series, ...Series[]] {
  const ratios = (name: string, field: RatioField, style: Style): Series => ({
    name,
    values: points.map((point) => point[field]),
    highest: 1,
    style,
  });
  const rates = (name: string, field: RateField, style: Style): Series => {
    const values = points.map((point) => point[field]);
    const highest = values.reduce<number>((most, each) => Math.max(most, each ?? 0), 0);
    return { name, values, highest: Math.max(highest, MIN_BYTES_PER_SECOND), style };
  };
  return [
    ratios('CPU', 'cpu_usage_ratio', 'green'),
    rates('Received', 'receive_bytes_per_second', 'cyan'),
    rates('Sent', 'transmit_bytes_per_second', 'cyan'),
    rates('Read', 'disk_read_bytes_per_second', 'cyan'),
    rates('Written', 'disk_write_bytes_per_second', 'cyan'),
    ratios('Memory', 'memory_usage_ratio', 'green'),
  ];
}

type RatioField = 'cpu_usage_ratio' | 'memory_usage_ratio';
type RateField =
  | 'receive_bytes_per_second'
  | 'transmit_bytes_per_second'
  | 'disk_read_bytes_per_second'
  | 'disk_write_bytes_per_second';

/** Draws a chart of one line; nothing when it does not fit. */
export function sparkline(series: Series | undefined, width: number): Line {
  if (series === undefined || width < MIN_CHART_WIDTH) return [];
  return drawChart(series.values, { ...series, width, height: 1 })[0] ?? [];
}

const LEVELS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const PARTS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** Thresholds of yellow and red. */
const WARN_RATIO = 0.75;
const ALARM_RATIO = 0.9;

/** Returns the colour of a utilisation. */
export function styleOfRatio(ratio: number | undefined): Style {
  if (ratio === undefined) return 'dim';
  if (ratio >= ALARM_RATIO) return 'red';
  return ratio >= WARN_RATIO ? 'yellow' : 'green';
}

/** Draws a bar, filled to an eighth of a column. */
export function drawBar(ratio: number | undefined, width: number): Span[] {
  const eighths = Math.round(limit(ratio ?? 0) * width * 8);
  const filled = `${'█'.repeat(Math.floor(eighths / 8))}${PARTS[eighths % 8] ?? ''}`;
  return [
    span(filled, styleOfRatio(ratio)),
    span('·'.repeat(Math.max(0, width - filled.length)), 'dim'),
  ];
}

/** Draws one column for each value. */
export function drawLevels(ratios: readonly (number | undefined)[]): Line {
  return ratios.map((ratio) => span(pickLevel(ratio), styleOfRatio(ratio)));
}

/**
 * Draws the newest values, a column for each; unknown values stay empty.
 * @param highest the value of the full height
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
interface ChartOptions {
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
  // A value of 0 shows that it was measured.
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
