import assert from 'node:assert/strict';
import { test } from 'node:test';

import { AgentOtlpRequest, type AgentSnapshot } from '@latchkey/contract';
import { JsonMetricsSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  DataPointType,
  type MetricData,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics';
import { ValueType } from '@opentelemetry/api';
import { Value } from 'typebox/value';

import { exampleHost, exampleSnapshot } from '../../test/example-snapshot.ts';
import { version } from '../version.ts';
import { toOtlpRequest } from './otlp.ts';

type Metric =
  AgentOtlpRequest['resourceMetrics'][number]['scopeMetrics'][number]['metrics'][number];
type Attributes = NonNullable<Metric['gauge']>['dataPoints'][number]['attributes'];

const gpu = { vendor: 'nvidia', index: 0, name: 'L4', pci_address: '0000:01:00.0' } as const;
const snapshot = {
  ...exampleSnapshot,
  gpus: [
    {
      ...gpu,
      usage_ratio: 0.5,
      memory_used_bytes: 250,
      memory_total_bytes: 1000,
      temperature_celsius: 61,
      power_watts: 55.5,
    },
    { vendor: 'amd', index: 1, asleep: true },
  ],
} satisfies AgentSnapshot;

const request = toOtlpRequest(snapshot, exampleHost);
const resource = request.resourceMetrics[0];
const scope = resource?.scopeMetrics[0];
assert.ok(resource !== undefined && scope !== undefined);

function readAttributes(attributes: Attributes): Record<string, string | number> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? '']),
  );
}

const toTime = (nanoseconds: string): [number, number] => [
  Number(BigInt(nanoseconds) / 1_000_000_000n),
  Number(BigInt(nanoseconds) % 1_000_000_000n),
];

/** Converts a metric to the data type of OpenTelemetry's SDK. */
function toMetricData({ name, unit, description, sum, gauge }: Metric): MetricData {
  const points = (sum ?? gauge)?.dataPoints ?? [];
  const dataPoints = points.map((point) => ({
    startTime: toTime(point.startTimeUnixNano),
    endTime: toTime(point.timeUnixNano),
    attributes: readAttributes(point.attributes),
    value: point.asDouble,
  }));
  const common = {
    descriptor: { name, description, unit, valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
    dataPoints,
  };
  return sum === undefined
    ? { ...common, dataPointType: DataPointType.GAUGE }
    : { ...common, dataPointType: DataPointType.SUM, isMonotonic: sum.isMonotonic };
}

test('encodes the same bytes as the OpenTelemetry package', () => {
  const metrics: ResourceMetrics = {
    resource: resourceFromAttributes(readAttributes(resource.resource.attributes)),
    scopeMetrics: [
      {
        scope: { ...scope.scope, schemaUrl: scope.schemaUrl },
        metrics: scope.metrics.map(toMetricData),
      },
    ],
  };
  const theirs = new TextDecoder().decode(JsonMetricsSerializer.serializeRequest(metrics));
  assert.equal(JSON.stringify(request), theirs);
});

test('matches the schema of the contract', () => {
  assert.deepEqual([...Value.Errors(AgentOtlpRequest, request)], []);
});

test('describes the machine as the resource', () => {
  assert.deepEqual(readAttributes(resource.resource.attributes), {
    'host.name': 'db-1',
    'host.arch': 'amd64',
    'os.type': 'linux',
    'os.name': 'debian',
    'os.version': '12',
    'os.description': 'Debian GNU/Linux 12 (bookworm)',
  });
  assert.deepEqual(scope.scope, { name: 'latchkey-agent', version });
});

test('writes times as nanoseconds in text, since boot and now', () => {
  const point = scope.metrics[0]?.gauge?.dataPoints[0];
  assert.deepEqual(
    [point?.startTimeUnixNano, point?.timeUnixNano],
    ['1795132800000000000', '1795229065123000000'],
  );
});

const root =
  'system.device=/dev/sda1,system.filesystem.mountpoint=/,system.filesystem.type=ext4,system.filesystem.mode=rw';

const CARD = 'hw.id=0000:01:00.0,hw.name=L4,hw.vendor=nvidia,hw.type=gpu';

const EXPECTED: readonly string[] = [
  'system.uptime s gauge {} 96265.12',
  'system.cpu.physical.count {cpu} sum {} 1',
  'system.cpu.logical.count {cpu} sum {} 1',
  'system.cpu.time s counter {cpu.logical_number=0,cpu.mode=user} 10.5',
  'system.cpu.time s counter {cpu.logical_number=0,cpu.mode=nice} 1',
  'system.cpu.time s counter {cpu.logical_number=0,cpu.mode=system} 4',
  'system.cpu.time s counter {cpu.logical_number=0,cpu.mode=iowait} 2',
  'system.cpu.time s counter {cpu.logical_number=0,cpu.mode=interrupt} 0.5',
  'system.cpu.time s counter {cpu.logical_number=0,cpu.mode=steal} 0.25',
  'system.cpu.time s counter {cpu.logical_number=0,cpu.mode=idle} 900',
  'system.cpu.utilization 1 gauge {cpu.mode=user} 0.2',
  'system.cpu.utilization 1 gauge {cpu.mode=nice} 0',
  'system.cpu.utilization 1 gauge {cpu.mode=system} 0.05',
  'system.cpu.utilization 1 gauge {cpu.mode=iowait} 0',
  'system.cpu.utilization 1 gauge {cpu.mode=interrupt} 0',
  'system.cpu.utilization 1 gauge {cpu.mode=steal} 0',
  'system.cpu.utilization 1 gauge {cpu.mode=idle} 0.75',
  'system.cpu.frequency Hz gauge {cpu.logical_number=0} 2400000000',
  'system.cpu.load_average.1m {thread} gauge {} 0.5',
  'system.cpu.load_average.5m {thread} gauge {} 0.25',
  'system.cpu.load_average.15m {thread} gauge {} 0.1',
  'latchkey.pressure.stall.time s counter {resource=io,kind=some} 12.5',
  'system.memory.usage By sum {system.memory.state=used} 3300',
  'system.memory.usage By sum {system.memory.state=free} 1000',
  'system.memory.usage By sum {system.memory.state=buffers} 200',
  'system.memory.usage By sum {system.memory.state=cached} 3500',
  'system.memory.limit By sum {} 8000',
  'system.memory.linux.available By sum {} 5000',
  'system.memory.linux.shared By sum {} 50',
  'system.paging.usage By sum {system.paging.state=used} 25',
  'system.paging.usage By sum {system.paging.state=free} 75',
  'system.paging.utilization 1 gauge {system.paging.state=used} 0.25',
  'system.process.count {process} sum {} 75',
  'system.disk.io By counter {system.device=sda,disk.io.direction=read} 5120',
  'system.disk.io By counter {system.device=sda,disk.io.direction=write} 10240',
  'system.disk.io By counter {system.device=dm-0,disk.io.direction=read} 5120',
  'system.disk.io By counter {system.device=dm-0,disk.io.direction=write} 10240',
  'system.disk.operations {operation} counter {system.device=sda,disk.io.direction=read} 10',
  'system.disk.operations {operation} counter {system.device=sda,disk.io.direction=write} 20',
  'system.disk.operations {operation} counter {system.device=dm-0,disk.io.direction=read} 10',
  'system.disk.operations {operation} counter {system.device=dm-0,disk.io.direction=write} 20',
  'system.disk.limit By sum {system.device=sda} 1000000',
  `system.filesystem.usage By sum {${root},system.filesystem.state=used} 400`,
  `system.filesystem.usage By sum {${root},system.filesystem.state=free} 550`,
  `system.filesystem.usage By sum {${root},system.filesystem.state=reserved} 50`,
  `system.filesystem.utilization 1 gauge {${root}} 0.4211`,
  `system.filesystem.limit By sum {${root}} 1000`,
  'system.network.io By counter {network.interface.name=eth0,network.io.direction=receive} 1',
  'system.network.io By counter {network.interface.name=eth0,network.io.direction=transmit} 2',
  'system.network.errors {error} counter {network.interface.name=eth0,network.io.direction=receive} 5',
  'system.network.errors {error} counter {network.interface.name=eth0,network.io.direction=transmit} 6',
  'system.network.packet.dropped {packet} counter {network.interface.name=eth0,network.io.direction=receive} 7',
  'system.network.packet.dropped {packet} counter {network.interface.name=eth0,network.io.direction=transmit} 8',
  'system.network.packet.count {packet} counter {system.device=eth0,network.io.direction=receive} 3',
  'system.network.packet.count {packet} counter {system.device=eth0,network.io.direction=transmit} 4',
  'hw.temperature Cel gauge {hw.id=coretemp.0/temp1,hw.name=Package id 0} 51',
  'hw.temperature Cel gauge {hw.id=nvme.0/temp1} -2.5',
  `hw.temperature Cel gauge {${CARD}} 61`,
  'hw.fan.speed rpm gauge {hw.id=it87.0/fan1} 900',
  'hw.battery.charge 1 gauge {hw.id=BAT0} 0.8',
  `hw.gpu.utilization 1 gauge {${CARD},hw.gpu.task=general} 0.5`,
  `hw.gpu.memory.usage By sum {${CARD}} 250`,
  `hw.gpu.memory.limit By sum {${CARD}} 1000`,
  `hw.gpu.memory.utilization 1 gauge {${CARD}} 0.25`,
  `hw.power W gauge {${CARD}} 55.5`,
];

test('each metric has the name, unit, kind, attributes and value of the conventions', () => {
  const lines = scope.metrics.flatMap(({ name, unit, sum, gauge }) => {
    const kind = gauge === undefined ? (sum?.isMonotonic === true ? 'counter' : 'sum') : 'gauge';
    return ((sum ?? gauge)?.dataPoints ?? []).map(({ attributes, asDouble }) => {
      const labels = Object.entries(readAttributes(attributes)).map(
        ([key, value]) => `${key}=${value}`,
      );
      return `${name} ${unit} ${kind} {${labels.join(',')}} ${asDouble}`;
    });
  });
  assert.deepEqual(lines, EXPECTED);
});
