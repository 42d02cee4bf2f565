import type { AgentGpu, AgentHistoryPoint, AgentMemory, AgentSnapshot } from '@latchkey/contract';

import type { MetricValues } from './timeline.ts';

type OptionalMetricValues = Readonly<Record<string, number | undefined>>;

/** Drops absent values. */
function dropAbsent(values: OptionalMetricValues): MetricValues {
  const kept: Record<string, number> = {};
  for (const [key, value] of Object.entries(values)) if (value !== undefined) kept[key] = value;
  return kept;
}

/** Returns the charted values of a history point. */
export function toPastMetricValues(point: AgentHistoryPoint): MetricValues {
  return dropAbsent({
    'cpu.usage': point.cpu_usage_ratio,
    'load.1m': point.load_1m,
    'memory.used': point.memory_usage_ratio,
    'disk.read': point.disk_read_bytes_per_second,
    'disk.write': point.disk_write_bytes_per_second,
    'network.receive': point.receive_bytes_per_second,
    'network.transmit': point.transmit_bytes_per_second,
  });
}

/** Returns the charted values of a snapshot. */
export function toMetricValues(snapshot: AgentSnapshot): MetricValues {
  const { load, network } = snapshot;
  return dropAbsent({
    ...toProcessorValues(snapshot),
    ...toMemoryValues(snapshot),
    ...toPressureValues(snapshot),
    'load.1m': load?.load_1m,
    'load.5m': load?.load_5m,
    'load.15m': load?.load_15m,
    'network.receive': network?.receive_bytes_per_second,
    'network.transmit': network?.transmit_bytes_per_second,
    ...toDiskValues(snapshot),
    ...toDeviceValues(snapshot),
  });
}

function toProcessorValues({ cpu }: AgentSnapshot): OptionalMetricValues {
  return {
    'cpu.usage': cpu?.usage_ratio,
    'cpu.iowait': cpu?.shares?.iowait_ratio,
    'cpu.steal': cpu?.shares?.steal_ratio,
  };
}

function toMemoryValues({ memory, swap }: AgentSnapshot): OptionalMetricValues {
  return {
    'memory.used': memory?.usage_ratio,
    'memory.arc': divide(memory?.zfs_arc_bytes, memory?.total_bytes),
    'swap.used': swap?.usage_ratio,
  };
}

function toPressureValues({ pressure }: AgentSnapshot): OptionalMetricValues {
  return {
    'pressure.cpu': pressure?.cpu?.some?.stall_ratio,
    'pressure.memory': pressure?.memory?.some?.stall_ratio,
    'pressure.io': pressure?.io?.some?.stall_ratio,
  };
}

/** Sums disks only: mappers and RAIDs are stacked on them. */
function toDiskValues({ disks = [] }: AgentSnapshot): OptionalMetricValues {
  const own = disks.filter(({ kind }) => kind === 'disk');
  return {
    'disk.read': sum(own.map((disk) => disk.read_bytes_per_second)),
    'disk.write': sum(own.map((disk) => disk.write_bytes_per_second)),
  };
}

function toDeviceValues({ sensors, gpus = [] }: AgentSnapshot): OptionalMetricValues {
  const values: Record<string, number | undefined> = {};
  for (const { id, temperature_celsius: celsius } of sensors?.temperatures ?? []) {
    values[`temperature.${id}`] = celsius;
  }
  for (const gpu of gpus) {
    values[`${gpuKey(gpu)}.usage`] = gpu.usage_ratio;
    values[`${gpuKey(gpu)}.memory`] = divide(gpu.memory_used_bytes, gpu.memory_total_bytes);
  }
  return values;
}

/** Returns the key prefix of a GPU's values. */
export function gpuKey({ vendor, index }: AgentGpu): string {
  return `gpu.${vendor}.${index}`;
}

function sum(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : known.reduce((total, value) => total + value, 0);
}

/** Divides; undefined when a value is missing or the whole is 0. */
export function divide(part: number | undefined, whole: number | undefined): number | undefined {
  return part === undefined || whole === undefined || whole === 0 ? undefined : part / whole;
}

/** A piece of the memory bar. */
interface MemoryPiece {
  readonly name: string;
  readonly kind: 'used' | 'arc' | 'cache' | 'free';
  readonly bytes: number;
}

/** Splits memory by use into pieces that add up to the total. */
export function splitMemory(memory: AgentMemory): MemoryPiece[] {
  const { total_bytes: total, used_bytes: used, free_bytes: free, zfs_arc_bytes: arc } = memory;
  const rest = Math.max(0, total - used - free);
  const reclaimableArc = Math.min(rest, arc ?? 0);
  const pieces: MemoryPiece[] = [{ name: 'Programs', kind: 'used', bytes: used }];
  if (arc !== undefined) pieces.push({ name: 'ZFS cache', kind: 'arc', bytes: reclaimableArc });
  pieces.push({ name: 'Cache', kind: 'cache', bytes: rest - reclaimableArc });
  pieces.push({ name: 'Free', kind: 'free', bytes: Math.min(free, total - used) });
  return pieces;
}
