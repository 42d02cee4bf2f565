import type { AgentHost, AgentSnapshot } from '@latchkey/contract';

export const exampleHost: AgentHost = {
  hostname: 'db-1',
  os_name: 'Debian GNU/Linux 12 (bookworm)',
  os_id: 'debian',
  os_version: '12',
  architecture: 'x64',
  cpu_logical_count: 1,
  cpu_physical_count: 1,
  boot_time: '2026-11-20T00:00:00Z',
  machine_type: 'virtual',
};

const times = {
  user_seconds_total: 10.5,
  nice_seconds_total: 1,
  system_seconds_total: 4,
  iowait_seconds_total: 2,
  interrupt_seconds_total: 0.5,
  steal_seconds_total: 0.25,
  idle_seconds_total: 900,
};

/** A small machine with every part. */
export const exampleSnapshot: AgentSnapshot = {
  time: '2026-11-21T02:44:25.123Z',
  uptime_seconds: 96_265.12,
  cpu: {
    logical_count: 1,
    usage_ratio: 0.25,
    shares: {
      user_ratio: 0.2,
      nice_ratio: 0,
      system_ratio: 0.05,
      iowait_ratio: 0,
      interrupt_ratio: 0,
      steal_ratio: 0,
      idle_ratio: 0.75,
    },
    times,
    cores: [{ core: 0, usage_ratio: 0.25, times, frequency_hertz: 2_400_000_000 }],
  },
  load: { load_1m: 0.5, load_5m: 0.25, load_15m: 0.1, runnable_tasks: 2, tasks: 120 },
  memory: {
    total_bytes: 8_000,
    used_bytes: 3_000,
    available_bytes: 5_000,
    usage_ratio: 0.375,
    free_bytes: 1_000,
    buffers_bytes: 200,
    cached_bytes: 3_500,
    active_bytes: 2_500,
    shared_bytes: 50,
  },
  swap: {
    total_bytes: 100,
    used_bytes: 25,
    free_bytes: 75,
    usage_ratio: 0.25,
    in_bytes_total: 4096,
    out_bytes_total: 8192,
  },
  pressure: {
    io: {
      some: {
        average_10s_ratio: 0.01,
        average_60s_ratio: 0,
        average_300s_ratio: 0,
        stall_seconds_total: 12.5,
      },
    },
  },
  disks: [
    {
      device: 'sda',
      kind: 'disk',
      size_bytes: 1_000_000,
      read_bytes_per_second: 512,
      write_bytes_per_second: 1024,
      read_bytes_total: 5_120,
      written_bytes_total: 10_240,
      reads_total: 10,
      writes_total: 20,
    },
    {
      device: 'dm-0',
      kind: 'mapper',
      read_bytes_per_second: 512,
      write_bytes_per_second: 1024,
      read_bytes_total: 5_120,
      written_bytes_total: 10_240,
      reads_total: 10,
      writes_total: 20,
    },
  ],
  filesystems: [
    {
      mount_point: '/',
      device: '/dev/sda1',
      type: 'ext4',
      read_only: false,
      total_bytes: 1_000,
      used_bytes: 400,
      free_bytes: 600,
      available_bytes: 550,
      usage_ratio: 0.4211,
      inodes_total: 100,
      inodes_used: 30,
      inodes_usage_ratio: 0.3,
    },
    { mount_point: '/nfs', device: 'far:/x', type: 'nfs4', read_only: false, stale: true },
  ],
  network: {
    receive_bytes_per_second: 2048,
    transmit_bytes_per_second: 4096,
    interfaces: [
      {
        interface: 'eth0',
        kind: 'physical',
        receive_bytes_total: 1,
        transmit_bytes_total: 2,
        receive_packets_total: 3,
        transmit_packets_total: 4,
        receive_errors_total: 5,
        transmit_errors_total: 6,
        receive_drops_total: 7,
        transmit_drops_total: 8,
      },
    ],
  },
  sensors: {
    temperatures: [
      {
        id: 'coretemp.0/temp1',
        chip: 'coretemp',
        label: 'Package id 0',
        temperature_celsius: 51,
        high_celsius: 90,
        critical_celsius: 100,
      },
      { id: 'nvme.0/temp1', chip: 'nvme', temperature_celsius: -2.5 },
    ],
    fans: [{ id: 'it87.0/fan1', chip: 'it87', speed_rpm: 900 }],
  },
  batteries: [{ name: 'BAT0', status: 'discharging', charge_ratio: 0.8 }],
  processes: { count: 75, top_by_cpu: [], top_by_memory: [] },
};
