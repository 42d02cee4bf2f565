import type { Shape } from './shape.ts';

/*
 * What messages must be before anything of them is drawn. The contract says it all, but its library would be half of this
 * program's memory; a test holds one against the other.
 */

function each<Kind extends Shape>(kind: Kind): (names: string) => Record<string, Kind> {
  return (names) =>
    Object.fromEntries(
      names
        .trim()
        .split(/\s+/u)
        .map((name): [string, Kind] => [name, kind]),
    );
}

const numbers = each('number');
const texts = each('text');
const flags = each('flag');

const cpuTimes = numbers(`
  user_seconds_total nice_seconds_total system_seconds_total iowait_seconds_total
  interrupt_seconds_total steal_seconds_total idle_seconds_total
`);

const pressureLine = numbers(`
  stall_ratio? average_10s_ratio average_60s_ratio average_300s_ratio stall_seconds_total
`);

const pressureOf = { 'some?': pressureLine, 'full?': pressureLine };

const nowAndEver = flags('now since_boot');

const processShape = { ...numbers('pid cpu_cores? memory_bytes?'), ...texts('name') };

/** The first message. */
export const HELLO_SHAPE: Shape = {
  ...numbers('schema_version interval_seconds'),
  ...texts('type agent_version'),
  host: {
    ...numbers('cpu_logical_count? cpu_physical_count? memory_total_bytes?'),
    ...texts(`
      hostname os_name? os_id? os_version? kernel_version? architecture cpu_model? boot_time?
      machine_type machine_model?
    `),
  },
  history: [
    {
      ...numbers(`
        cpu_usage_ratio? load_1m? memory_usage_ratio? disk_read_bytes_per_second?
        disk_write_bytes_per_second? receive_bytes_per_second? transmit_bytes_per_second?
      `),
      ...texts('time'),
    },
  ],
};

/** What every message after it holds. */
export const SNAPSHOT_SHAPE: Shape = {
  ...numbers('uptime_seconds?'),
  ...texts('time'),
  'cpu?': {
    ...numbers('logical_count usage_ratio? frequency_hertz?'),
    'shares?': numbers(`
      user_ratio nice_ratio system_ratio iowait_ratio interrupt_ratio steal_ratio idle_ratio
    `),
    times: cpuTimes,
    cores: [{ ...numbers('core usage_ratio? frequency_hertz?'), times: cpuTimes }],
  },
  'load?': numbers('load_1m load_5m load_15m runnable_tasks tasks'),
  'memory?': numbers(`
    total_bytes used_bytes available_bytes usage_ratio free_bytes buffers_bytes cached_bytes
    active_bytes? shared_bytes? slab_reclaimable_bytes? dirty_bytes? zfs_arc_bytes?
  `),
  'swap?': numbers(`
    total_bytes used_bytes free_bytes usage_ratio in_bytes_per_second? out_bytes_per_second?
    in_bytes_total? out_bytes_total?
  `),
  'pressure?': { 'cpu?': pressureOf, 'memory?': pressureOf, 'io?': pressureOf, 'irq?': pressureOf },
  'disks?': [
    {
      ...numbers(`
        size_bytes? read_bytes_per_second? write_bytes_per_second? reads_per_second?
        writes_per_second? read_latency_seconds? write_latency_seconds? busy_ratio? queue_depth?
        read_bytes_total written_bytes_total reads_total writes_total
      `),
      ...texts('device kind name?'),
      'members?': ['text'],
    },
  ],
  'filesystems?': [
    {
      ...numbers(`
        total_bytes? used_bytes? free_bytes? available_bytes? usage_ratio? inodes_total?
        inodes_used? inodes_usage_ratio?
      `),
      ...texts('mount_point device type'),
      ...flags('read_only network? stale?'),
    },
  ],
  'disk_health?': [
    {
      ...numbers(`
        temperature_celsius? power_on_seconds? wear_ratio? spare_ratio? reallocated_sectors?
        pending_sectors? media_errors?
      `),
      ...texts('device read_at model?'),
      ...flags('passed? failing prefail_now prefail_past error_log self_test_failed'),
    },
  ],
  'network?': {
    ...numbers('receive_bytes_per_second? transmit_bytes_per_second?'),
    interfaces: [
      {
        ...numbers(`
          speed_bits_per_second? receive_bytes_per_second? transmit_bytes_per_second?
          receive_packets_per_second? transmit_packets_per_second? receive_bytes_total
          transmit_bytes_total receive_packets_total transmit_packets_total receive_errors_total
          transmit_errors_total receive_drops_total transmit_drops_total
        `),
        ...texts('interface kind member_of?'),
        ...flags('up?'),
      },
    ],
  },
  'sensors?': {
    'temperatures?': [
      {
        ...numbers('temperature_celsius high_celsius? critical_celsius?'),
        ...texts('id chip label?'),
      },
    ],
    'fans?': [{ ...numbers('speed_rpm'), ...texts('id chip label?') }],
  },
  'batteries?': [
    { ...numbers('charge_ratio? health_ratio? power_watts? cycles?'), ...texts('name status') },
  ],
  'gpus?': [
    {
      ...numbers(`
        index usage_ratio? awake_ratio? memory_used_bytes? memory_total_bytes? host_memory_used_bytes?
        temperature_celsius? power_watts? power_limit_watts? fan_ratio? frequency_hertz?
        memory_frequency_hertz?
      `),
      ...texts('vendor name? model_id? uuid? pci_address?'),
      ...flags('asleep? memory_shared?'),
    },
  ],
  'processes?': { ...numbers('count'), top_by_cpu: [processShape], top_by_memory: [processShape] },
  'containers?': [
    {
      ...numbers(`
        cpu_cores? memory_bytes? memory_limit_bytes? read_bytes_per_second?
        write_bytes_per_second? processes?
      `),
      ...texts('id runtime'),
    },
  ],
  'units?': { failed: ['text'] },
  'raspberry_pi?': {
    under_voltage: nowAndEver,
    frequency_capped: nowAndEver,
    throttled: nowAndEver,
    soft_temperature_limit: nowAndEver,
  },
};
