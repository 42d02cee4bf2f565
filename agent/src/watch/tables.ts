import type { AgentSnapshot } from '@latchkey/contract';

import {
  formatBytes,
  formatBytesPerSecond,
  formatFigure,
  formatLatency,
  formatRatio,
  nameGpu,
} from '../cli/format.ts';
import { drawBar, styleOfRatio } from './charts.ts';
import { fitText, type Line, span, type Span, type Style, widthOf } from './text.ts';

const BAR_WIDTH = 8;

/** Lists the tables of a snapshot, most important first. */
export function listTables(snapshot: AgentSnapshot): readonly Table[] {
  return [
    describeFilesystems(snapshot),
    describeProcesses(snapshot),
    describeInterfaces(snapshot),
    describeDisks(snapshot),
    describeGpus(snapshot),
    describeContainers(snapshot),
    describeTemperatures(snapshot),
    describeFans(snapshot),
  ];
}

function describeFilesystems({ filesystems = [] }: AgentSnapshot): Table {
  const rows = filesystems
    .toSorted((one, other) => (other.usage_ratio ?? 2) - (one.usage_ratio ?? 2))
    .map((each) => [
      each.mount_point,
      drawBar(each.usage_ratio, BAR_WIDTH),
      each.stale === true ? span('hangs', 'red') : paintRatio(each.usage_ratio),
      formatBytes(each.available_bytes),
      formatBytes(each.total_bytes),
    ]);
  return { headings: ['Filesystem', '', 'used', 'free', 'size'], rows };
}

function describeProcesses({ processes }: AgentSnapshot): Table {
  const { top_by_cpu: busiest = [], top_by_memory: largest = [] } = processes ?? {};
  const known = new Set(busiest.map(({ pid }) => pid));
  const rows = [...busiest, ...largest.filter(({ pid }) => !known.has(pid))].map((each) => [
    each.name,
    formatRatio(each.cpu_cores),
    formatBytes(each.memory_bytes),
    span(`${each.pid}`, 'dim'),
  ]);
  return { headings: ['Process', 'cpu', 'memory', 'pid'], rows };
}

function describeInterfaces({ network }: AgentSnapshot): Table {
  const rows = (network?.interfaces ?? [])
    .toSorted((one, other) => trafficOf(other) - trafficOf(one))
    .map((each) => [
      span(each.interface, each.up === false ? 'dim' : 'plain'),
      formatBytesPerSecond(each.receive_bytes_per_second),
      formatBytesPerSecond(each.transmit_bytes_per_second),
      span(each.up === false ? 'down' : each.kind, 'dim'),
    ]);
  return { headings: ['Interface', 'received', 'sent', 'kind'], rows };
}

type Interface = NonNullable<AgentSnapshot['network']>['interfaces'][number];

/** Returns the total traffic, by which rows keep a stable order. */
function trafficOf(each: Interface): number {
  return each.receive_bytes_total + each.transmit_bytes_total;
}

function describeDisks({ disks = [] }: AgentSnapshot): Table {
  const rows = disks.map((disk) => [
    disk.name ?? disk.device,
    formatBytesPerSecond(disk.read_bytes_per_second),
    formatBytesPerSecond(disk.write_bytes_per_second),
    paintRatio(disk.busy_ratio),
    formatLatency(disk.read_latency_seconds),
    formatLatency(disk.write_latency_seconds),
  ]);
  return { headings: ['Disk', 'read', 'written', 'busy', 'r latency', 'w latency'], rows };
}

function describeGpus({ gpus = [] }: AgentSnapshot): Table {
  const rows = gpus.map((gpu) => [
    nameGpu(gpu, gpus),
    gpu.asleep === true ? span('asleep', 'dim') : paintRatio(gpu.usage_ratio),
    formatBytes(gpu.memory_used_bytes),
    formatFigure(gpu.temperature_celsius, '°C'),
    formatFigure(gpu.power_watts, 'W'),
  ]);
  return { headings: ['GPU', 'busy', 'memory', 'temp', 'power'], rows };
}

function describeContainers({ containers = [] }: AgentSnapshot): Table {
  const rows = containers
    .toSorted((one, other) => (other.memory_bytes ?? 0) - (one.memory_bytes ?? 0))
    .map((each) => [
      each.id,
      formatRatio(each.cpu_cores),
      formatBytes(each.memory_bytes),
      span(each.runtime, 'dim'),
    ]);
  return { headings: ['Container', 'cpu', 'memory', 'runtime'], rows };
}

function describeTemperatures({ sensors }: AgentSnapshot): Table {
  const rows = (sensors?.temperatures ?? []).map((each) => {
    const { temperature_celsius: now, critical_celsius: critical } = each;
    const style = critical === undefined || critical <= 0 ? 'plain' : styleOfRatio(now / critical);
    return [
      each.label === undefined ? each.id : `${each.chip} ${each.label}`,
      span(formatFigure(now, '°C'), style),
      span(formatFigure(critical, '°C'), 'dim'),
    ];
  });
  return { headings: ['Temperature', 'now', 'critical'], rows };
}

function describeFans({ sensors }: AgentSnapshot): Table {
  const rows = (sensors?.fans ?? []).map((fan) => [
    fan.label === undefined ? fan.id : `${fan.chip} ${fan.label}`,
    formatFigure(fan.speed_rpm),
  ]);
  return { headings: ['Fan', 'rpm'], rows };
}

function paintRatio(ratio: number | undefined): Span {
  return span(formatRatio(ratio), styleOfRatio(ratio));
}

/** A cell: a text, or spans of fixed width. */
type Cell = string | Span | readonly Span[];

/** Rows under headings. */
interface Table {
  /** The first one is the title of the table. */
  readonly headings: readonly string[];
  /** Most important first: rows that do not fit are counted. */
  readonly rows: readonly (readonly Cell[])[];
}

const GAP = '  ';
const MIN_NAME_WIDTH = 8;

/** Draws a table with names on the left and figures on the right. Columns that do not fit are left out, the last first. */
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
