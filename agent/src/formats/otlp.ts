import type { AgentHost, AgentOtlpRequest, AgentSnapshot } from '@latchkey/contract';

import { version } from '../version.ts';
import { sumProgramMemory } from './vector.ts';
import { addDevices } from './otlp-devices.ts';
import { addGpus, addHardware } from './otlp-hardware.ts';
import { Metrics, type Point, pointsOf, toAttributes } from './otlp-metrics.ts';

/** The semantic conventions of names and units; load and pressure, which they lack, have similar names. */
const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.44.0';

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: 'x86', arm: 'arm32' };

/** Converts a snapshot to an OTLP metrics request (opentelemetry-proto, JSON encoding). */
export function toOtlpRequest(snapshot: AgentSnapshot, host: AgentHost): AgentOtlpRequest {
  const atMs = Date.parse(snapshot.time);
  const bootMs = host.boot_time === undefined ? atMs : Date.parse(host.boot_time);
  const metrics = new Metrics(bootMs, atMs);
  metrics.gauge('system.uptime', 's', [[snapshot.uptime_seconds]]);
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

const memoryState = (value: string) => ({ 'system.memory.state': value });
const pagingState = (value: string) => ({ 'system.paging.state': value });

type Cpu = NonNullable<AgentSnapshot['cpu']>;
type Core = Cpu['cores'][number];

function addCpu(metrics: Metrics, { cpu, load, pressure }: AgentSnapshot, host: AgentHost): void {
  const cores = cpu?.cores ?? [];
  metrics.sum('system.cpu.physical.count', '{cpu}', [[host.cpu_physical_count]]);
  metrics.sum('system.cpu.logical.count', '{cpu}', [[cpu?.logical_count]]);
  metrics.counter('system.cpu.time', 's', cores.flatMap(timesOf));
  metrics.gauge('system.cpu.utilization', '1', sharesOf(cpu?.shares));
  metrics.gauge('system.cpu.frequency', 'Hz', pointsOf(cores, 'frequency_hertz', describeCore));
  metrics.gauge('system.cpu.load_average.1m', '{thread}', [[load?.load_1m]]);
  metrics.gauge('system.cpu.load_average.5m', '{thread}', [[load?.load_5m]]);
  metrics.gauge('system.cpu.load_average.15m', '{thread}', [[load?.load_15m]]);
  const stalls = Object.entries(pressure ?? {}).flatMap(([resource, lines]) =>
    Object.entries(lines).map(([kind, line]): Point => [
      line.stall_seconds_total,
      { resource, kind },
    ]),
  );
  metrics.counter('latchkey.pressure.stall.time', 's', stalls);
}

const MODES = ['user', 'nice', 'system', 'iowait', 'interrupt', 'steal', 'idle'] as const;

const describeCore = ({ core }: Core) => ({ 'cpu.logical_number': core });

function timesOf({ times, core }: Core): Point[] {
  return MODES.map((mode) => [
    times[`${mode}_seconds_total`],
    { 'cpu.logical_number': core, 'cpu.mode': mode },
  ]);
}

function sharesOf(shares: Cpu['shares']): Point[] {
  return MODES.map((mode) => [shares?.[`${mode}_ratio`], { 'cpu.mode': mode }]);
}

function addMemory(metrics: Metrics, { memory, swap, processes }: AgentSnapshot): void {
  metrics.sum('system.memory.usage', 'By', [
    // The states add up to the total, so "used" excludes buffers and page cache.
    [sumProgramMemory(memory), memoryState('used')],
    [memory?.free_bytes, memoryState('free')],
    [memory?.buffers_bytes, memoryState('buffers')],
    [memory?.cached_bytes, memoryState('cached')],
  ]);
  metrics.sum('system.memory.limit', 'By', [[memory?.total_bytes]]);
  metrics.sum('system.memory.linux.available', 'By', [[memory?.available_bytes]]);
  metrics.sum('system.memory.linux.shared', 'By', [[memory?.shared_bytes]]);
  metrics.sum('system.paging.usage', 'By', [
    [swap?.used_bytes, pagingState('used')],
    [swap?.free_bytes, pagingState('free')],
  ]);
  metrics.gauge('system.paging.utilization', '1', [[swap?.usage_ratio, pagingState('used')]]);
  metrics.sum('system.process.count', '{process}', [[processes?.count]]);
}
