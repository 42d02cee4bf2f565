import type { AgentDisk, AgentHost, AgentInterface, AgentSnapshot } from '@latchkey/contract';

export const changingHost: AgentHost = {
  hostname: 'atlas',
  os_name: 'Debian GNU/Linux 13 (trixie)',
  os_id: 'debian',
  os_version: '13',
  kernel_version: '6.12.48-amd64',
  architecture: 'x64',
  cpu_model: 'AMD Ryzen 9 7950X',
  cpu_logical_count: 32,
  cpu_physical_count: 16,
  memory_total_bytes: 67_108_864_000,
  boot_time: '2026-11-02T08:00:00Z',
  machine_type: 'physical',
};

const GIB = 1024 ** 3;

/** Returns a value from 0 to 1 that varies irregularly with the tick; the same arguments return the same value. */
function wave(tick: number, seed: number): number {
  const slow = Math.sin(tick / (23 + (seed % 7)) + seed);
  const fast = Math.sin(tick / 5.3 + seed * 3.7) * 0.35 + Math.sin(tick * 1.9 + seed * 11) * 0.12;
  return Math.min(1, Math.max(0, 0.5 + slow * 0.32 + fast * 0.45));
}

const times = {
  user_seconds_total: 1,
  nice_seconds_total: 0,
  system_seconds_total: 1,
  iowait_seconds_total: 0,
  interrupt_seconds_total: 0,
  steal_seconds_total: 0,
  idle_seconds_total: 1,
};

function toCpu(tick: number): NonNullable<AgentSnapshot['cpu']> {
  const usage = 0.12 + wave(tick, 1) * 0.5;
  const iowait = wave(tick, 2) ** 3 * 0.12;
  const system = usage * 0.25;
  return {
    logical_count: 32,
    usage_ratio: usage,
    shares: {
      user_ratio: usage - system,
      nice_ratio: 0,
      system_ratio: system,
      iowait_ratio: iowait,
      interrupt_ratio: 0,
      steal_ratio: 0,
      idle_ratio: 1 - usage - iowait,
    },
    times,
    frequency_hertz: 3.4e9 + wave(tick, 3) * 1.8e9,
    cores: Array.from({ length: 32 }, (_, core) => ({
      core,
      usage_ratio: Math.min(1, wave(tick, core * 1.7 + 4) ** 2 * (usage + 0.4)),
      times,
    })),
  };
}

function toDisk(device: string, tick: number, seed: number): AgentDisk {
  const busy = wave(tick, seed) ** 2;
  return {
    device,
    kind: 'disk',
    size_bytes: 2e12,
    read_bytes_per_second: busy * 420e6,
    write_bytes_per_second: wave(tick, seed + 1) ** 3 * 260e6,
    reads_per_second: busy * 900,
    writes_per_second: busy * 400,
    read_latency_seconds: 0.0001 + busy * 0.0009,
    write_latency_seconds: 0.0002 + busy * 0.002,
    busy_ratio: busy * 0.9,
    queue_depth: busy * 4,
    read_bytes_total: 1e12,
    written_bytes_total: 1e12,
    reads_total: 1e9,
    writes_total: 1e9,
  };
}

function toInterface(name: string, kind: AgentInterface['kind'], rate: number): AgentInterface {
  return {
    interface: name,
    kind,
    up: true,
    ...(kind === 'physical' ? { speed_bits_per_second: 10e9 } : {}),
    receive_bytes_per_second: rate,
    transmit_bytes_per_second: rate * 0.4,
    receive_bytes_total: 1e12,
    transmit_bytes_total: 1e12,
    receive_packets_total: 1e9,
    transmit_packets_total: 1e9,
    receive_errors_total: 0,
    transmit_errors_total: 0,
    receive_drops_total: kind === 'bridge' ? 12 : 0,
    transmit_drops_total: 0,
  };
}

function toMemory(tick: number): Pick<AgentSnapshot, 'memory' | 'swap'> {
  const total = 62.5 * GIB;
  const used = (24 + wave(tick / 4, 7) * 9) * GIB;
  return {
    memory: {
      total_bytes: total,
      used_bytes: used,
      available_bytes: total - used,
      usage_ratio: used / total,
      free_bytes: 6 * GIB,
      buffers_bytes: 0.4 * GIB,
      cached_bytes: 12 * GIB,
      zfs_arc_bytes: (14 + wave(tick / 3, 8) * 2) * GIB,
    },
    swap: { total_bytes: 8 * GIB, used_bytes: GIB, free_bytes: 7 * GIB, usage_ratio: 1 / 8 },
  };
}

function stall(ratio: number) {
  const average = { average_10s_ratio: 0, average_60s_ratio: 0, average_300s_ratio: 0 };
  return { some: { stall_ratio: ratio, ...average, stall_seconds_total: 12 } };
}

const NAMES = ['postgres', 'ffmpeg', 'node', 'clickhouse', 'qemu-system-x86', 'nginx', 'redis'];

function toProcesses(tick: number): NonNullable<AgentSnapshot['processes']> {
  const all = NAMES.map((name, at) => ({
    pid: 812 + at * 431,
    name,
    cpu_cores: wave(tick, at + 40) * (4.2 - at * 0.55),
    memory_bytes: (6.5 - at * 0.85) * GIB * (0.9 + wave(tick / 5, at) * 0.2),
  }));
  const sortBy = (field: 'cpu_cores' | 'memory_bytes') =>
    all.toSorted((one, other) => other[field] - one[field]);
  return { count: 412, top_by_cpu: sortBy('cpu_cores'), top_by_memory: sortBy('memory_bytes') };
}

function toFilesystem(at: string, type: string, total: number, ratio: number) {
  return {
    mount_point: at,
    device: `/dev/${type}`,
    type,
    read_only: false,
    total_bytes: total * GIB,
    used_bytes: total * ratio * GIB,
    free_bytes: total * (1 - ratio) * GIB,
    available_bytes: total * (1 - ratio) * GIB,
    usage_ratio: ratio,
  };
}

function toFilesystems(): NonNullable<AgentSnapshot['filesystems']> {
  return [
    toFilesystem('/', 'ext4', 98, 0.41),
    toFilesystem('/home', 'zfs', 1800, 0.63),
    toFilesystem('/var/lib/postgresql', 'xfs', 931, 0.84),
    toFilesystem('/srv/media', 'zfs', 14_500, 0.93),
    {
      mount_point: '/mnt/backup',
      device: 'nas:/backup',
      type: 'nfs4',
      read_only: false,
      network: true,
      stale: true,
    },
  ];
}

function toSensors(tick: number): NonNullable<AgentSnapshot['sensors']> {
  const give = (chip: string, label: string, base: number, seed: number, critical = 95) => ({
    id: `${chip}/${label}`,
    chip,
    label,
    temperature_celsius: Math.round(base + wave(tick / 2, seed) * 14),
    critical_celsius: critical,
  });
  return {
    temperatures: [
      give('k10temp', 'Tctl', 52, 21),
      give('nvme', 'Composite', 38, 22, 85),
      give('amdgpu', 'edge', 44, 23),
      give('spd5118', 'DIMM 1', 41, 24, 85),
    ],
    fans: [
      {
        id: 'a',
        chip: 'nct6799',
        label: 'CPU fan',
        speed_rpm: 900 + Math.round(wave(tick, 5) * 300),
      },
      { id: 'b', chip: 'nct6799', label: 'Rear', speed_rpm: 640 },
    ],
  };
}

function toGpus(tick: number): NonNullable<AgentSnapshot['gpus']> {
  const usage = wave(tick, 31);
  return [
    {
      vendor: 'nvidia',
      index: 0,
      name: 'NVIDIA GeForce RTX 4090',
      usage_ratio: usage,
      memory_used_bytes: (9 + wave(tick / 3, 32) * 8) * GIB,
      memory_total_bytes: 24 * GIB,
      temperature_celsius: 48 + usage * 22,
      power_watts: 60 + usage * 330,
      power_limit_watts: 450,
      fan_ratio: 0.3 + usage * 0.3,
      frequency_hertz: 2.52e9,
    },
    { vendor: 'amd', index: 1, name: 'AMD Radeon Graphics', asleep: true },
  ];
}

function toContainers(tick: number): NonNullable<AgentSnapshot['containers']> {
  return ['4c01db0b339c', 'a7e2f1c09b12', '90bb31d47f5e'].map((id, at) => ({
    id,
    runtime: at === 2 ? 'podman' : 'docker',
    cpu_cores: wave(tick, at + 50) * 1.4,
    memory_bytes: (0.4 + at * 0.7) * GIB,
    ...(at === 1 ? { memory_limit_bytes: 2 * GIB } : {}),
    read_bytes_per_second: wave(tick, at + 60) * 2e6,
    write_bytes_per_second: wave(tick, at + 61) * 5e6,
    processes: 12,
  }));
}

/**
 * Returns the snapshot of a large busy machine; the same tick returns the same figures.
 * @param tick seconds since the start
 */
export function changingSnapshot(tick: number, time: Date): AgentSnapshot {
  return {
    time: time.toISOString(),
    uptime_seconds: 1_671_240 + tick,
    cpu: toCpu(tick),
    load: {
      load_1m: 5 + wave(tick / 3, 70) * 12,
      load_5m: 8 + wave(tick / 9, 71) * 5,
      load_15m: 9,
      runnable_tasks: 7,
      tasks: 1204,
    },
    ...toMemory(tick),
    pressure: {
      cpu: stall(wave(tick, 80) ** 4 * 0.2),
      memory: stall(0),
      io: stall(wave(tick, 81) ** 3 * 0.3),
    },
    disks: [toDisk('nvme0n1', tick, 11), toDisk('nvme1n1', tick, 14), toDisk('sda', tick, 17)],
    filesystems: toFilesystems(),
    network: {
      receive_bytes_per_second: wave(tick, 90) ** 2 * 84e6,
      transmit_bytes_per_second: wave(tick, 91) ** 2 * 31e6,
      interfaces: [
        toInterface('enp6s0', 'physical', wave(tick, 90) ** 2 * 84e6),
        toInterface('br0', 'bridge', wave(tick, 92) * 3e6),
        toInterface('wg0', 'tunnel', wave(tick, 93) * 9e5),
      ],
    },
    sensors: toSensors(tick),
    gpus: toGpus(tick),
    processes: toProcesses(tick),
    containers: toContainers(tick),
    units: { failed: ['certbot.service'] },
  };
}
