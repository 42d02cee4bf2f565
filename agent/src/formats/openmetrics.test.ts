import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { AgentSnapshot } from '@latchkey/contract';

import { exampleHost, exampleSnapshot } from '../../test/example-snapshot.ts';
import { version } from '../version.ts';
import { DESCRIPTIONS } from './metric-descriptions.ts';
import { toMetricsText } from './openmetrics.ts';
import { toOtlpRequest } from './otlp.ts';

const { time } = exampleSnapshot;
const gpu = { vendor: 'nvidia', index: 0, usage_ratio: 0.5, power_watts: 55.5 } as const;
const memory = { memory_used_bytes: 250, memory_total_bytes: 1000, temperature_celsius: 61 };
const whole: AgentSnapshot = { ...exampleSnapshot, gpus: [{ ...gpu, ...memory }] };
const lines = toMetricsText(whole, exampleHost, [], 'openmetrics').split('\n');

test('writes families with type, unit and help, the suffix of counters, and the end', () => {
  const network = {
    interfaces: exampleSnapshot.network?.interfaces.map((each) => ({ ...each })) ?? [],
  };
  const notice = { code: 'filesystem_full', severity: 'error', subject: '/a\\b"\n' } as const;
  const host = { hostname: 'db-1', architecture: 'x64', machine_type: 'virtual' } as const;
  const small = { time, uptime_seconds: 5.25, network };
  const text = toMetricsText(small, host, [notice, { ...notice, ratio: 1 }], 'openmetrics');
  assert.deepEqual(text.split('\n').slice(0, 15), [
    '# TYPE target info',
    '# HELP target The machine.',
    'target_info{host_name="db-1",host_arch="amd64",os_type="linux"} 1',
    '# TYPE latchkey_agent info',
    '# HELP latchkey_agent The agent.',
    `latchkey_agent_info{version="${version}"} 1`,
    '# TYPE latchkey_notice gauge',
    '# HELP latchkey_notice A present problem, such as a full filesystem; absent when it is over.',
    String.raw`latchkey_notice{code="filesystem_full",severity="error",subject="/a\\b\"\n"} 1`,
    '# TYPE system_uptime_seconds gauge',
    '# UNIT system_uptime_seconds seconds',
    '# HELP system_uptime_seconds Time since boot.',
    'system_uptime_seconds 5.25',
    '# TYPE system_network_io_bytes counter',
    '# UNIT system_network_io_bytes bytes',
  ]);
  assert.ok(
    text.includes(
      '\nsystem_network_io_bytes_total{network_interface_name="eth0",network_io_direction="receive"} 1\n',
    ),
  );
  assert.ok(text.endsWith('\n# EOF\n'));
});

test('has every metric of OpenTelemetry under a unique name with a description', () => {
  const [resource] = toOtlpRequest(whole, exampleHost).resourceMetrics;
  const names = resource?.scopeMetrics.flatMap(({ metrics }) => metrics.map(({ name }) => name));
  assert.deepEqual(
    names?.filter((name) => DESCRIPTIONS[name] === undefined),
    [],
  );
  const families = lines.flatMap(
    (line) => /^# TYPE (?<name>\S+)/.exec(line)?.groups?.['name'] ?? [],
  );
  assert.equal(new Set(families).size, families.length);
  // And two facts; without problems, there are no notices.
  assert.equal(families.length, (names?.length ?? 0) + 2);
});

test('ends a name with its unit, and uses no suffix that Prometheus reserves', () => {
  for (const line of lines.filter((each) => each.startsWith('# UNIT '))) {
    const [, , name = '', unit = ''] = line.split(' ');
    assert.ok(name.endsWith(`_${unit}`), line);
  }
  assert.deepEqual(
    lines.filter((line) => /^# TYPE \S+_(?:count|sum|bucket|total|info) /.test(line)),
    [],
  );
});

test('names samples as their families in the older format, without units and the end', () => {
  const { swap } = exampleSnapshot;
  assert.ok(swap !== undefined);
  const text = toMetricsText({ time, swap }, exampleHost, [], 'text');
  assert.deepEqual(text.split('\n').slice(9), [
    '# HELP system_paging_usage_bytes Swap by state.',
    '# TYPE system_paging_usage_bytes gauge',
    'system_paging_usage_bytes{system_paging_state="used"} 25',
    'system_paging_usage_bytes{system_paging_state="free"} 75',
    '# HELP system_paging_utilization_ratio Used part of the swap.',
    '# TYPE system_paging_utilization_ratio gauge',
    'system_paging_utilization_ratio{system_paging_state="used"} 0.25',
    '',
  ]);
  const counters = toMetricsText(whole, exampleHost, [], 'text');
  assert.ok(counters.includes('\n# TYPE system_cpu_time_seconds_total counter\n'));
});
