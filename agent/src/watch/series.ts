import type { AgentHistoryPoint } from '@latchkey/contract';

import { drawChart } from './bars.ts';
import type { Line, Style } from './text.ts';

const MIN_CHART_WIDTH = 6;

/** Below it, a chart of traffic would make mountains of nothing. */
const MIN_BYTES_PER_SECOND = 16 * 1024;

/** A chart of something over time, in one row or several. */
export interface Series {
  readonly name: string;
  readonly values: readonly (number | undefined)[];
  readonly highest: number;
  readonly style: Style;
}

/** What is known over time: of processor, memory, network and disks. */
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

/** A chart in one line; nothing where there is no room for one. */
export function sparkline(series: Series | undefined, width: number): Line {
  if (series === undefined || width < MIN_CHART_WIDTH) return [];
  return drawChart(series.values, { ...series, width, height: 1 })[0] ?? [];
}
