import type { AgentDisk, AgentFilesystem, AgentSnapshot } from '@latchkey/contract';

import { type Attributes, type Metrics, type Point, pointsOf } from './otlp-metrics.ts';

/** Adds disks, filesystems and network interfaces. */
export function addDevices(metrics: Metrics, snapshot: AgentSnapshot): void {
  addDisks(metrics, snapshot);
  addFilesystems(metrics, snapshot);
  addNetwork(metrics, snapshot);
}

function addDisks(metrics: Metrics, { disks = [] }: AgentSnapshot): void {
  const addCounter = (name: string, unit: string, read: DiskTotal, write: DiskTotal): void =>
    metrics.counter(
      name,
      unit,
      disks.flatMap((disk): Point[] => [
        [disk[read], { 'system.device': disk.device, 'disk.io.direction': 'read' }],
        [disk[write], { 'system.device': disk.device, 'disk.io.direction': 'write' }],
      ]),
    );
  addCounter('system.disk.io', 'By', 'read_bytes_total', 'written_bytes_total');
  addCounter('system.disk.operations', '{operation}', 'reads_total', 'writes_total');
  const sizes = pointsOf(disks, 'size_bytes', ({ device }) => ({ 'system.device': device }));
  metrics.sum('system.disk.limit', 'By', sizes);
}

type DiskTotal = Extract<keyof AgentDisk, `${string}_total`>;

function addFilesystems(metrics: Metrics, { filesystems = [] }: AgentSnapshot): void {
  metrics.sum('system.filesystem.usage', 'By', filesystems.flatMap(usageOf));
  const ratios = pointsOf(filesystems, 'usage_ratio', describeFilesystem);
  metrics.gauge('system.filesystem.utilization', '1', ratios);
  const sizes = pointsOf(filesystems, 'total_bytes', describeFilesystem);
  metrics.sum('system.filesystem.limit', 'By', sizes);
}

function usageOf(filesystem: AgentFilesystem): Point[] {
  const { free_bytes: free, available_bytes: available } = filesystem;
  const reserved = free === undefined || available === undefined ? undefined : free - available;
  const at = (state: string): Attributes => ({
    ...describeFilesystem(filesystem),
    'system.filesystem.state': state,
  });
  return [
    [filesystem.used_bytes, at('used')],
    [available, at('free')],
    [reserved, at('reserved')],
  ];
}

function describeFilesystem(filesystem: AgentFilesystem): Attributes {
  return {
    'system.device': filesystem.device,
    'system.filesystem.mountpoint': filesystem.mount_point,
    'system.filesystem.type': filesystem.type,
    'system.filesystem.mode': filesystem.read_only ? 'ro' : 'rw',
  };
}

function addNetwork(metrics: Metrics, { network }: AgentSnapshot): void {
  const interfaces = network?.interfaces ?? [];
  const add = (
    name: string,
    unit: string,
    field: 'bytes' | 'errors' | 'drops' | 'packets',
    nameOfInterface = 'network.interface.name',
  ): void =>
    metrics.counter(
      name,
      unit,
      interfaces.flatMap((each): Point[] => {
        const at = (direction: string): Attributes => ({
          [nameOfInterface]: each.interface,
          'network.io.direction': direction,
        });
        return [
          [each[`receive_${field}_total`], at('receive')],
          [each[`transmit_${field}_total`], at('transmit')],
        ];
      }),
    );
  add('system.network.io', 'By', 'bytes');
  add('system.network.errors', '{error}', 'errors');
  add('system.network.packet.dropped', '{packet}', 'drops');
  // The conventions use another attribute for the interface in this metric.
  add('system.network.packet.count', '{packet}', 'packets', 'system.device');
}
