import type { AgentSnapshot } from '@latchkey/contract';

import type { Metrics } from './node-exporter.ts';

export const CPU_MODES = [
  'user',
  'nice',
  'system',
  'iowait',
  'interrupt',
  'steal',
  'idle',
] as const;

const PRESSURE = [
  ['cpu', 'some', 'cpu_waiting'],
  ['memory', 'some', 'memory_waiting'],
  ['memory', 'full', 'memory_stalled'],
  ['io', 'some', 'io_waiting'],
  ['io', 'full', 'io_stalled'],
] as const;

/** Returns the counters since boot under node_exporter's names. */
export function listCounters(snapshot: AgentSnapshot): Metrics {
  const { cpu, disks = [], network, pressure, swap } = snapshot;
  const cores = (cpu?.cores ?? []).flatMap(({ core, times }) =>
    CPU_MODES.map((mode) => [
      `node_cpu_seconds_total{cpu="${core}",mode="${mode}"}`,
      times[`${mode}_seconds_total`],
    ]),
  );
  const ofDisks = disks.flatMap((disk) => [
    [`node_disk_read_bytes_total{device="${disk.device}"}`, disk.read_bytes_total],
    [`node_disk_written_bytes_total{device="${disk.device}"}`, disk.written_bytes_total],
    [`node_disk_reads_completed_total{device="${disk.device}"}`, disk.reads_total],
    [`node_disk_writes_completed_total{device="${disk.device}"}`, disk.writes_total],
  ]);
  const ofNetwork = (network?.interfaces ?? []).flatMap((each) => [
    [`node_network_receive_bytes_total{device="${each.interface}"}`, each.receive_bytes_total],
    [`node_network_transmit_bytes_total{device="${each.interface}"}`, each.transmit_bytes_total],
    [`node_network_receive_packets_total{device="${each.interface}"}`, each.receive_packets_total],
    [
      `node_network_transmit_packets_total{device="${each.interface}"}`,
      each.transmit_packets_total,
    ],
  ]);
  const ofPressure = PRESSURE.map(([resource, kind, name]) => [
    `node_pressure_${name}_seconds_total`,
    pressure?.[resource]?.[kind]?.stall_seconds_total,
  ]);
  const ofSwap = [
    ['node_swap_in_bytes_total', swap?.in_bytes_total],
    ['node_swap_out_bytes_total', swap?.out_bytes_total],
  ];
  return collect([...cores, ...ofDisks, ...ofNetwork, ...ofPressure, ...ofSwap]);
}

/** Returns the sizes, which do not change within a second. */
export function listSizes({ memory, swap, filesystems = [] }: AgentSnapshot): Metrics {
  return collect([
    ['node_memory_MemTotal_bytes', memory?.total_bytes],
    // The agent omits absent swap.
    ['node_memory_SwapTotal_bytes', swap?.total_bytes ?? 0],
    ...filesystems.flatMap((each) => [
      [nameOf('size_bytes', each), each.total_bytes],
      [nameOf('files', each), each.inodes_total],
    ]),
  ]);
}

/** Returns the gauges in bytes. */
export function listLevels({ memory, swap, filesystems = [] }: AgentSnapshot): Metrics {
  return collect([
    ['node_memory_MemFree_bytes', memory?.free_bytes],
    ['node_memory_MemAvailable_bytes', memory?.available_bytes],
    ['node_memory_Buffers_bytes', memory?.buffers_bytes],
    ['node_memory_Cached_bytes', memory?.cached_bytes],
    ['node_memory_Active_bytes', memory?.active_bytes],
    ['node_memory_Shmem_bytes', memory?.shared_bytes],
    ['node_memory_SReclaimable_bytes', memory?.slab_reclaimable_bytes],
    ['node_memory_SwapFree_bytes', swap?.free_bytes],
    ...filesystems.flatMap((each) => [
      [nameOf('free_bytes', each), each.free_bytes],
      [nameOf('avail_bytes', each), each.available_bytes],
    ]),
  ]);
}

function nameOf(
  value: string,
  { device, type, mount_point }: NonNullable<AgentSnapshot['filesystems']>[number],
): string {
  const quoted = [device, type, mount_point].map((text) => JSON.stringify(text));
  return `node_filesystem_${value}{device=${quoted[0]},fstype=${quoted[1]},mountpoint=${quoted[2]}}`;
}

/** Omits absent values. */
function collect(entries: readonly (readonly (string | number | undefined)[])[]): Metrics {
  const metrics = new Map<string, number>();
  for (const [key, value] of entries) {
    if (typeof key === 'string' && typeof value === 'number') metrics.set(key, value);
  }
  return metrics;
}
