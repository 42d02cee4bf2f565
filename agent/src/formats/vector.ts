import type {
  AgentDisk,
  AgentFilesystem,
  AgentHost,
  AgentInterface,
  AgentSnapshot,
  AgentVectorEvent,
} from '@latchkey/contract';

type Tags = Readonly<Record<string, string>>;

/** Collects the events of one snapshot. Absent values create no event. */
class Events {
  readonly list: AgentVectorEvent[] = [];
  readonly #hostname: string;
  readonly #timestamp: string;

  constructor(hostname: string, timestamp: string) {
    this.#hostname = hostname;
    this.#timestamp = timestamp;
  }

  counter(collector: string, name: string, value: number | undefined, tags: Tags = {}): void {
    if (value === undefined) return;
    this.list.push({ ...this.#head(collector, name, tags), counter: { value } });
  }

  gauge(collector: string, name: string, value: number | undefined, tags: Tags = {}): void {
    if (value === undefined) return;
    this.list.push({ ...this.#head(collector, name, tags), gauge: { value } });
  }

  #head(collector: string, name: string, tags: Tags): AgentVectorEvent {
    return {
      name,
      namespace: 'host',
      tags: sortTags({ collector, host: this.#hostname, ...tags }),
      timestamp: this.#timestamp,
      kind: 'absolute',
    };
  }
}

/**
 * Converts a snapshot to the events of Vector's source `host_metrics`, with its names, tags and order (vectordotdev/vector,
 * src/sources/host_metrics), except what a snapshot lacks: command lines, TCP sockets, cgroup counters.
 */
export function toVectorEvents(snapshot: AgentSnapshot, host: AgentHost): AgentVectorEvent[] {
  const events = new Events(host.hostname, snapshot.time);
  addCpu(events, snapshot, host);
  for (const disk of snapshot.disks ?? []) addDisk(events, disk);
  for (const filesystem of snapshot.filesystems ?? []) addFilesystem(events, filesystem);
  events.gauge('load', 'load1', snapshot.load?.load_1m);
  events.gauge('load', 'load5', snapshot.load?.load_5m);
  events.gauge('load', 'load15', snapshot.load?.load_15m);
  events.gauge('host', 'uptime', snapshot.uptime_seconds);
  events.gauge('host', 'boot_time', toUnixSeconds(host.boot_time));
  addMemory(events, snapshot);
  for (const each of snapshot.network?.interfaces ?? []) addInterface(events, each);
  addTemperatures(events, snapshot);
  return events.list;
}

function addCpu(events: Events, { cpu }: AgentSnapshot, host: AgentHost): void {
  if (cpu === undefined) return;
  for (const { core, times } of cpu.cores) {
    const add = (mode: string, value: number): void =>
      events.counter('cpu', 'cpu_seconds_total', value, { cpu: String(core), mode });
    add('idle', times.idle_seconds_total);
    add('io_wait', times.iowait_seconds_total);
    add('nice', times.nice_seconds_total);
    add('system', times.system_seconds_total);
    add('user', times.user_seconds_total);
  }
  events.gauge('cpu', 'logical_cpus', cpu.logical_count);
  events.gauge('cpu', 'physical_cpus', host.cpu_physical_count);
}

function addDisk(events: Events, disk: AgentDisk): void {
  const tags = { device: disk.device };
  events.counter('disk', 'disk_read_bytes_total', disk.read_bytes_total, tags);
  events.counter('disk', 'disk_reads_completed_total', disk.reads_total, tags);
  events.counter('disk', 'disk_written_bytes_total', disk.written_bytes_total, tags);
  events.counter('disk', 'disk_writes_completed_total', disk.writes_total, tags);
}

function addFilesystem(events: Events, filesystem: AgentFilesystem): void {
  const tags = {
    device: filesystem.device,
    filesystem: filesystem.type,
    mountpoint: filesystem.mount_point,
  };
  const add = (name: string, value: number | undefined): void =>
    events.gauge('filesystem', name, value, tags);
  // Vector's "free" excludes the space reserved for root.
  add('filesystem_free_bytes', filesystem.available_bytes);
  add('filesystem_total_bytes', filesystem.total_bytes);
  add('filesystem_used_bytes', filesystem.used_bytes);
  add('filesystem_used_ratio', filesystem.usage_ratio);
  const { inodes_total: total, inodes_used: used } = filesystem;
  add('filesystem_inodes_total', total);
  if (total !== undefined && used !== undefined) add('filesystem_inodes_free', total - used);
  add('filesystem_inodes_used', used);
  add('filesystem_inodes_used_ratio', filesystem.inodes_usage_ratio);
}

function addMemory(events: Events, { memory, swap }: AgentSnapshot): void {
  const add = (name: string, value: number | undefined): void =>
    events.gauge('memory', name, value);
  add('memory_total_bytes', memory?.total_bytes);
  add('memory_free_bytes', memory?.free_bytes);
  add('memory_available_bytes', memory?.available_bytes);
  add('memory_active_bytes', memory?.active_bytes);
  add('memory_buffers_bytes', memory?.buffers_bytes);
  add('memory_cached_bytes', memory?.cached_bytes);
  add('memory_shared_bytes', memory?.shared_bytes);
  add('memory_used_bytes', sumProgramMemory(memory));
  add('memory_swap_free_bytes', swap?.free_bytes);
  add('memory_swap_total_bytes', swap?.total_bytes);
  add('memory_swap_used_bytes', swap?.used_bytes);
  events.counter('memory', 'memory_swapped_in_bytes_total', swap?.in_bytes_total);
  events.counter('memory', 'memory_swapped_out_bytes_total', swap?.out_bytes_total);
}

function addInterface(events: Events, each: AgentInterface): void {
  const tags = { device: each.interface };
  const add = (name: string, value: number): void => events.counter('network', name, value, tags);
  add('network_receive_bytes_total', each.receive_bytes_total);
  add('network_receive_errs_total', each.receive_errors_total);
  add('network_receive_packets_total', each.receive_packets_total);
  add('network_transmit_bytes_total', each.transmit_bytes_total);
  add('network_transmit_packets_drop_total', each.transmit_drops_total);
  add('network_transmit_packets_total', each.transmit_packets_total);
  add('network_transmit_errs_total', each.transmit_errors_total);
}

function addTemperatures(events: Events, { sensors }: AgentSnapshot): void {
  for (const sensor of sensors?.temperatures ?? []) {
    const label = sensor.label === undefined ? sensor.id : `${sensor.chip} ${sensor.label}`;
    const add = (name: string, value: number | undefined): void =>
      events.gauge('temperature', name, value, { component: label });
    add('temperature_celsius', sensor.temperature_celsius);
    add('temperature_max_celsius', sensor.high_celsius);
    add('temperature_critical_celsius', sensor.critical_celsius);
  }
}

function sortTags(tags: Tags): Record<string, string> {
  return Object.fromEntries(Object.entries(tags).sort(([one], [other]) => (one < other ? -1 : 1)));
}

function toUnixSeconds(time: string | undefined): number | undefined {
  return time === undefined ? undefined : Math.floor(Date.parse(time) / 1000);
}

/** Returns the memory without free memory, buffers and page cache, which Vector and OpenTelemetry call used. */
export function sumProgramMemory(memory: AgentSnapshot['memory']): number | undefined {
  if (memory === undefined) return undefined;
  const { total_bytes: total, free_bytes: free, buffers_bytes: buffers } = memory;
  return Math.max(0, total - free - buffers - memory.cached_bytes);
}
