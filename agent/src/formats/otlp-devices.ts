import type { AgentFilesystem, AgentSnapshot } from '@latchkey/contract';

import type { Attributes, Metrics, Point } from './otlp-metrics.ts';

/** Adds disks, filesystems and network interfaces. */
export function addDevices(metrics: Metrics, snapshot: AgentSnapshot): void {
  addDisks(metrics, snapshot);
  addFilesystems(metrics, snapshot);
  addNetwork(metrics, snapshot);
}

const ofDisk = (device: string, direction: string): Attributes => ({
  'system.device': device,
  'disk.io.direction': direction,
});

function addDisks(metrics: Metrics, { disks = [] }: AgentSnapshot): void {
  metrics.add(
    'system.disk.io',
    { unit: 'By', kind: 'counter' },
    disks.flatMap((disk): Point[] => [
      [disk.read_bytes_total, ofDisk(disk.device, 'read')],
      [disk.written_bytes_total, ofDisk(disk.device, 'write')],
    ]),
  );
  metrics.add(
    'system.disk.operations',
    { unit: '{operation}', kind: 'counter' },
    disks.flatMap((disk): Point[] => [
      [disk.reads_total, ofDisk(disk.device, 'read')],
      [disk.writes_total, ofDisk(disk.device, 'write')],
    ]),
  );
  metrics.add(
    'system.disk.limit',
    { unit: 'By', kind: 'sum' },
    disks.map((disk) => [disk.size_bytes, { 'system.device': disk.device }]),
  );
}

function addFilesystems(metrics: Metrics, { filesystems = [] }: AgentSnapshot): void {
  const bytes = { unit: 'By', kind: 'sum' } as const;
  metrics.add('system.filesystem.usage', bytes, filesystems.flatMap(usageOf));
  metrics.add(
    'system.filesystem.utilization',
    { unit: '1', kind: 'gauge' },
    filesystems.map((each) => [each.usage_ratio, describeFilesystem(each)]),
  );
  metrics.add(
    'system.filesystem.limit',
    bytes,
    filesystems.map((each) => [each.total_bytes, describeFilesystem(each)]),
  );
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
    metrics.add(
      name,
      { unit, kind: 'counter' },
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
