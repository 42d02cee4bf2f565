import type { AgentHost, AgentOtlpRequest, AgentSnapshot } from '@latchkey/contract';

import { version } from '../version.ts';
import { sumProgramMemory } from './vector.ts';
import { addDevices } from './otlp-devices.ts';
import { addGpus, addHardware } from './otlp-hardware.ts';
import { Metrics, type Point, toAttributes } from './otlp-metrics.ts';

/** The semantic conventions of names and units; load and pressure, which they lack, have similar names. */
const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.44.0';

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: 'x86', arm: 'arm32' };

/** Converts a snapshot to an OTLP metrics request (opentelemetry-proto, JSON encoding). */
export function toOtlpRequest(snapshot: AgentSnapshot, host: AgentHost): AgentOtlpRequest {
  const atMs = Date.parse(snapshot.time);
  const bootMs = host.boot_time === undefined ? atMs : Date.parse(host.boot_time);
  const metrics = new Metrics(bootMs, atMs);
  metrics.add('system.uptime', { unit: 's', kind: 'gauge' }, [[snapshot.uptime_seconds]]);
  addCpu(metrics, snapshot, host);
  addMemory(metrics, snapshot);
  addDevices(metrics, snapshot);
  addHardware(metrics, snapshot);
  addGpus(metrics, snapshot);
  const scope = { name: 'latchkey-agent', version };
  return {
    resourceMetrics: [
      {
        resource: { attributes: describeHost(host), droppedAttributesCount: 0 },
        scopeMetrics: [{ scope, metrics: metrics.list, schemaUrl: SCHEMA_URL }],
      },
    ],
  };
}

function describeHost(host: AgentHost): ReturnType<typeof toAttributes> {
  return toAttributes({
    'host.name': host.hostname,
    'host.arch': ARCHITECTURES[host.architecture] ?? host.architecture,
    'os.type': 'linux',
    'os.name': host.os_id,
    'os.version': host.os_version,
    'os.description': host.os_name,
  });
}

const mode = (value: string) => ({ 'cpu.mode': value });
const memoryState = (value: string) => ({ 'system.memory.state': value });
const pagingState = (value: string) => ({ 'system.paging.state': value });

type Cpu = NonNullable<AgentSnapshot['cpu']>;

function addCpu(metrics: Metrics, { cpu, load, pressure }: AgentSnapshot, host: AgentHost): void {
  const cores = cpu?.cores ?? [];
  const count = { unit: '{cpu}', kind: 'sum' } as const;
  metrics.add('system.cpu.physical.count', count, [[host.cpu_physical_count]]);
  metrics.add('system.cpu.logical.count', count, [[cpu?.logical_count]]);
  metrics.add(
    'system.cpu.time',
    { unit: 's', kind: 'counter' },
    cores.flatMap(({ core, times }) => timesOf(times, core)),
  );
  const utilization = { unit: '1', kind: 'gauge' } as const;
  metrics.add('system.cpu.utilization', utilization, sharesOf(cpu?.shares));
  metrics.add(
    'system.cpu.frequency',
    { unit: 'Hz', kind: 'gauge' },
    cores.map((each) => [each.frequency_hertz, { 'cpu.logical_number': each.core }]),
  );
  const threads = { unit: '{thread}', kind: 'gauge' } as const;
  metrics.add('system.cpu.load_average.1m', threads, [[load?.load_1m]]);
  metrics.add('system.cpu.load_average.5m', threads, [[load?.load_5m]]);
  metrics.add('system.cpu.load_average.15m', threads, [[load?.load_15m]]);
  metrics.add(
    'latchkey.pressure.stall.time',
    { unit: 's', kind: 'counter' },
    Object.entries(pressure ?? {}).flatMap(([resource, lines]) =>
      Object.entries(lines).map(([kind, { stall_seconds_total: seconds }]): Point => [
        seconds,
        { resource, kind },
      ]),
    ),
  );
}

function timesOf(times: Cpu['times'], core: number): Point[] {
  const at = (value: string) => ({ 'cpu.logical_number': core, ...mode(value) });
  return [
    [times.user_seconds_total, at('user')],
    [times.nice_seconds_total, at('nice')],
    [times.system_seconds_total, at('system')],
    [times.iowait_seconds_total, at('iowait')],
    [times.interrupt_seconds_total, at('interrupt')],
    [times.steal_seconds_total, at('steal')],
    [times.idle_seconds_total, at('idle')],
  ];
}

function sharesOf(shares: Cpu['shares']): Point[] {
  return [
    [shares?.user_ratio, mode('user')],
    [shares?.nice_ratio, mode('nice')],
    [shares?.system_ratio, mode('system')],
    [shares?.iowait_ratio, mode('iowait')],
    [shares?.interrupt_ratio, mode('interrupt')],
    [shares?.steal_ratio, mode('steal')],
    [shares?.idle_ratio, mode('idle')],
  ];
}

function addMemory(metrics: Metrics, { memory, swap, processes }: AgentSnapshot): void {
  const bytes = { unit: 'By', kind: 'sum' } as const;
  const share = { unit: '1', kind: 'gauge' } as const;
  metrics.add('system.memory.usage', bytes, [
    // The states add up to the total, so "used" excludes buffers and page cache.
    [sumProgramMemory(memory), memoryState('used')],
    [memory?.free_bytes, memoryState('free')],
    [memory?.buffers_bytes, memoryState('buffers')],
    [memory?.cached_bytes, memoryState('cached')],
  ]);
  metrics.add('system.memory.limit', bytes, [[memory?.total_bytes]]);
  metrics.add('system.memory.linux.available', bytes, [[memory?.available_bytes]]);
  metrics.add('system.memory.linux.shared', bytes, [[memory?.shared_bytes]]);
  metrics.add('system.paging.usage', bytes, [
    [swap?.used_bytes, pagingState('used')],
    [swap?.free_bytes, pagingState('free')],
  ]);
  metrics.add('system.paging.utilization', share, [[swap?.usage_ratio, pagingState('used')]]);
  metrics.add('system.process.count', { unit: '{process}', kind: 'sum' }, [[processes?.count]]);
}
