import type { AgentSnapshot } from '@latchkey/contract';

import { nameGpu } from '../cli/name-gpu.ts';
import {
  formatBytes,
  formatBytesPerSecond,
  formatFigure,
  formatLatency,
  formatRatio,
} from '../cli/units.ts';
import { drawBar, styleOfRatio } from './bars.ts';
import type { Table } from './table.ts';
import { span, type Span } from './text.ts';

const BAR_WIDTH = 8;

/** What there are several of, in the order of what people look at. */
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

/** By what was ever carried, so that lines do not change places all the time. */
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
  return { headings: ['Disk', 'read', 'written', 'busy', 'read in', 'written in'], rows };
}

function describeGpus({ gpus = [] }: AgentSnapshot): Table {
  const rows = gpus.map((gpu) => [
    nameGpu(gpu, gpus),
    gpu.asleep === true ? span('asleep', 'dim') : paintRatio(gpu.usage_ratio),
    formatBytes(gpu.memory_used_bytes),
    formatFigure(gpu.temperature_celsius, '°C'),
    formatFigure(gpu.power_watts, 'W'),
  ]);
  return { headings: ['GPU', 'busy', 'memory', 'warm', 'power'], rows };
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
  return { headings: ['Container', 'cpu', 'memory', 'by'], rows };
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
    formatFigure(fan.speed_rpm, '/min'),
  ]);
  return { headings: ['Fan', 'turns'], rows };
}

function paintRatio(ratio: number | undefined): Span {
  return span(formatRatio(ratio), styleOfRatio(ratio));
}
