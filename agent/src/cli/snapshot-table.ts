import type { AgentHost, AgentSnapshot } from '@latchkey/contract';

import {
  formatBytes,
  formatBytesPerSecond,
  formatDuration,
  formatFigure,
  formatLatency,
  formatLoad,
  formatRatio,
  listPiProblems,
  nameGpu,
} from './format.ts';
import { sanitize } from '../watch/text.ts';
import { alignColumns, formatTable, paint, type Rows } from './output.ts';

const GIGA = 1e9;

/** Formats a snapshot as text: a line for each single part, a table for each list. */
export function formatSnapshot(host: AgentHost, snapshot: AgentSnapshot): string {
  const sections = [
    formatHost(host, snapshot),
    alignColumns(listFigures(snapshot)),
    ...listTables(snapshot).map(([header, rows]) => formatTable(header, rows)),
  ];
  return sections.filter((section) => section !== '').join('\n\n');
}

function formatHost(host: AgentHost, { uptime_seconds: uptime }: AgentSnapshot): string {
  const facts = [host.os_name, host.kernel_version, host.machine_model, host.cpu_model];
  const up = uptime === undefined ? undefined : `up ${formatDuration(uptime)}`;
  const known = [...facts, up].filter((fact) => fact !== undefined);
  return `${paint('bold', sanitize(host.hostname))}  ${paint('dim', known.map(sanitize).join(' · '))}`;
}

function listFigures({ cpu, load, memory, swap, pressure, ...more }: AgentSnapshot): Rows {
  const { shares } = cpu ?? {};
  return [
    ...row(cpu, (part) => [
      `Processor (${part.logical_count})`,
      formatRatio(part.usage_ratio),
      `user ${formatRatio(shares?.user_ratio)}, system ${formatRatio(shares?.system_ratio)}, iowait ${formatRatio(shares?.iowait_ratio)}, steal ${formatRatio(shares?.steal_ratio)}`,
      part.frequency_hertz === undefined ? '' : formatFigure(part.frequency_hertz / GIGA, 'GHz'),
    ]),
    ...row(load, (part) => [
      'Load',
      formatLoad(part.load_1m),
      `${formatLoad(part.load_5m)}, ${formatLoad(part.load_15m)}`,
    ]),
    ...row(memory, (part) => [
      'Memory',
      formatRatio(part.usage_ratio),
      `${formatBytes(part.used_bytes)} of ${formatBytes(part.total_bytes)}`,
      part.zfs_arc_bytes === undefined ? '' : `ZFS cache ${formatBytes(part.zfs_arc_bytes)}`,
    ]),
    ...row(swap, (part) => [
      'Swap',
      formatRatio(part.usage_ratio),
      `${formatBytes(part.used_bytes)} of ${formatBytes(part.total_bytes)}`,
    ]),
    ...row(pressure, (part) => [
      'Pressure (PSI)',
      '',
      `cpu ${formatRatio(part.cpu?.some?.average_10s_ratio)}, memory ${formatRatio(part.memory?.some?.average_10s_ratio)}, disks ${formatRatio(part.io?.some?.average_10s_ratio)}`,
    ]),
    ...(more.batteries ?? []).map((battery) => [
      sanitize(battery.name),
      formatRatio(battery.charge_ratio),
      battery.status.replace('_', ' '),
      formatFigure(battery.power_watts, 'W'),
    ]),
    ...row(more.units, (part) => [
      'Failed units',
      `${part.failed.length}`,
      part.failed.map(sanitize).join(', '),
    ]),
    ...row(more.raspberry_pi, (part) => [
      'Raspberry Pi',
      '',
      listPiProblems(part).join(', ') || 'no problems',
    ]),
  ];
}

/** Returns a row when the machine has the part. */
function row<T>(part: T | undefined, describe: (part: T) => readonly string[]): Rows {
  return part === undefined ? [] : [describe(part)];
}

function listTables(snapshot: AgentSnapshot): [readonly string[], Rows][] {
  const { disks = [], filesystems = [], gpus = [], network, sensors } = snapshot;
  const { processes, containers = [] } = snapshot;
  return [
    [['disk', 'read', 'write', 'busy', 'read latency', 'write latency'], disks.map(describeDisk)],
    [['mount point', 'used', 'size', 'available', 'type'], filesystems.map(describeFilesystem)],
    [
      ['gpu', 'busy', 'memory', 'size', 'temp', 'power', 'clock'],
      gpus.map((gpu) => describeGpu(gpu, gpus)),
    ],
    [['interface', 'received', 'sent', 'kind'], (network?.interfaces ?? []).map(describeInterface)],
    [['sensor', 'now', 'critical', 'label'], (sensors?.temperatures ?? []).map(describeSensor)],
    [['fan', 'rpm', 'label'], (sensors?.fans ?? []).map(describeFan)],
    [['container', 'cores', 'memory', 'runtime'], containers.map(describeContainer)],
    [['busiest', 'cores', 'memory', 'pid'], (processes?.top_by_cpu ?? []).map(describeProcess)],
    [['largest', 'cores', 'memory', 'pid'], (processes?.top_by_memory ?? []).map(describeProcess)],
  ];
}

type Item<Name extends 'disks' | 'filesystems' | 'gpus' | 'containers'> = NonNullable<
  AgentSnapshot[Name]
>[number];

function describeDisk(disk: Item<'disks'>): string[] {
  return [
    sanitize(disk.name === undefined ? disk.device : `${disk.device} (${disk.name})`),
    formatBytesPerSecond(disk.read_bytes_per_second),
    formatBytesPerSecond(disk.write_bytes_per_second),
    formatRatio(disk.busy_ratio),
    formatLatency(disk.read_latency_seconds),
    formatLatency(disk.write_latency_seconds),
  ];
}

function describeFilesystem(each: Item<'filesystems'>): string[] {
  return [
    sanitize(each.mount_point),
    each.stale === true ? 'does not answer' : formatRatio(each.usage_ratio),
    formatBytes(each.total_bytes),
    formatBytes(each.available_bytes),
    each.type,
  ];
}

function describeGpu(gpu: Item<'gpus'>, gpus: readonly Item<'gpus'>[]): string[] {
  const { frequency_hertz: hertz } = gpu;
  return [
    sanitize(nameGpu(gpu, gpus)),
    gpu.asleep === true ? 'asleep' : formatRatio(gpu.usage_ratio),
    formatBytes(gpu.memory_used_bytes),
    formatBytes(gpu.memory_total_bytes),
    formatFigure(gpu.temperature_celsius, '°C'),
    formatFigure(gpu.power_watts, 'W'),
    hertz === undefined ? '' : formatFigure(hertz / GIGA, 'GHz'),
  ];
}

function describeInterface(each: NonNullable<AgentSnapshot['network']>['interfaces'][number]) {
  return [
    sanitize(each.interface),
    formatBytesPerSecond(each.receive_bytes_per_second),
    formatBytesPerSecond(each.transmit_bytes_per_second),
    each.member_of === undefined ? each.kind : `${each.kind} in ${each.member_of}`,
  ];
}

type Sensors = NonNullable<AgentSnapshot['sensors']>;

function describeSensor(each: NonNullable<Sensors['temperatures']>[number]): string[] {
  return [
    sanitize(each.id),
    formatFigure(each.temperature_celsius, '°C'),
    formatFigure(each.critical_celsius, '°C'),
    sanitize(each.label ?? ''),
  ];
}

function describeFan(each: NonNullable<Sensors['fans']>[number]): string[] {
  return [sanitize(each.id), formatFigure(each.speed_rpm), sanitize(each.label ?? '')];
}

function describeContainer(each: Item<'containers'>): string[] {
  return [
    sanitize(each.id),
    formatFigure(each.cpu_cores),
    formatBytes(each.memory_bytes),
    each.runtime,
  ];
}

function describeProcess(
  each: NonNullable<AgentSnapshot['processes']>['top_by_cpu'][number],
): string[] {
  return [
    sanitize(each.name),
    formatFigure(each.cpu_cores),
    formatBytes(each.memory_bytes),
    `${each.pid}`,
  ];
}
