import type { AgentHost, AgentOtlpRequest, AgentSnapshot } from '@latchkey/contract';

import type { Notice } from '../notices.ts';
import { version } from '../version.ts';
import { DESCRIPTIONS } from './metric-descriptions.ts';
import { toOtlpRequest } from './otlp.ts';

/** OpenMetrics 1.0.0, or the older text format of Prometheus. */
export type MetricsFormat = 'openmetrics' | 'text';

export const CONTENT_TYPES: Readonly<Record<MetricsFormat, string>> = {
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
  text: 'text/plain; version=0.0.4; charset=utf-8',
};

/** A group of samples with one name. */
interface Family {
  /** Without the suffix of its samples. */
  readonly name: string;
  readonly kind: 'counter' | 'gauge' | 'info';
  /** Empty without one. */
  readonly unit: string;
  readonly help: string;
  readonly samples: readonly (readonly [labels: Labels, value: number])[];
}

type Labels = Readonly<Record<string, string | number | undefined>>;

/**
 * Converts a snapshot to the text of a scrape: the metrics of OpenTelemetry (`toOtlpRequest`) with the names that Prometheus
 * derives from theirs, the facts of the machine, and the present problems.
 */
export function toMetricsText(
  snapshot: AgentSnapshot,
  host: AgentHost,
  notices: readonly Notice[],
  format: MetricsFormat,
): string {
  const [resource] = toOtlpRequest(snapshot, host).resourceMetrics;
  const families = [
    describeTarget(resource?.resource.attributes ?? []),
    describeAgent(),
    describeNotices(notices),
    ...(resource?.scopeMetrics ?? []).flatMap(({ metrics }) => metrics.map(toFamily)),
  ];
  const lines = families.flatMap((family) => renderFamily(family, format));
  return [...lines, ...(format === 'openmetrics' ? ['# EOF'] : []), ''].join('\n');
}

type Resource = AgentOtlpRequest['resourceMetrics'][number];
type Metric = Resource['scopeMetrics'][number]['metrics'][number];
type Attributes = Resource['resource']['attributes'];

function describeTarget(attributes: Attributes): Family {
  const help = 'The machine.';
  return { name: 'target', kind: 'info', unit: '', help, samples: [[toLabels(attributes), 1]] };
}

function describeAgent(): Family {
  const help = 'The agent.';
  return { name: 'latchkey_agent', kind: 'info', unit: '', help, samples: [[{ version }, 1]] };
}

function describeNotices(notices: readonly Notice[]): Family {
  const samples = notices.map(
    ({ code, severity, subject }) => [{ code, severity, subject }, 1] as const,
  );
  const help = 'A present problem, such as a full filesystem; absent when it is over.';
  return { name: 'latchkey_notice', kind: 'gauge', unit: '', help, samples };
}

function toFamily({ name, unit, gauge, sum }: Metric): Family {
  const points = (gauge ?? sum)?.dataPoints ?? [];
  const isRatio = unit === '1' && gauge !== undefined;
  const unitName = isRatio ? 'ratio' : (UNITS[unit] ?? '');
  const base = RENAMED[name] ?? name.replaceAll(/\W/gu, '_');
  return {
    name: unitName === '' || base.endsWith(`_${unitName}`) ? base : `${base}_${unitName}`,
    kind: sum?.isMonotonic === true ? 'counter' : 'gauge',
    unit: unitName,
    help: DESCRIPTIONS[name] ?? '',
    samples: points.map(({ attributes, asDouble }) => [toLabels(attributes), asDouble]),
  };
}

/** The names of UCUM units in Prometheus; units in braces, such as `{cpu}`, have none. */
const UNITS: Readonly<Record<string, string>> = {
  By: 'bytes',
  Cel: 'celsius',
  Hz: 'hertz',
  W: 'watts',
  rpm: 'rpm',
  s: 'seconds',
};

/** Prometheus reserves the suffix `_count` for histograms. */
const RENAMED: Readonly<Record<string, string>> = {
  'system.cpu.physical.count': 'system_cpu_physical_cores',
  'system.cpu.logical.count': 'system_cpu_logical_cores',
  'system.process.count': 'system_processes',
  'system.network.packet.count': 'system_network_packets',
};

function toLabels(attributes: Attributes): Labels {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [
      key.replaceAll(/\W/gu, '_'),
      value.stringValue ?? value.intValue,
    ]),
  );
}

const SUFFIXES = { counter: '_total', gauge: '', info: '_info' } as const;

/** A family without samples is left out. A repeated sample is left out, too: scrapers reject the whole text because of one. */
function renderFamily(
  { name, kind, unit, help, samples }: Family,
  format: MetricsFormat,
): readonly string[] {
  const sampleName = `${name}${SUFFIXES[kind]}`;
  const lines = new Map(
    samples.map(([labels, value]) => {
      const series = `${sampleName}${renderLabels(labels)}`;
      return [series, `${series} ${value}`];
    }),
  );
  if (lines.size === 0) return [];
  if (format === 'text') {
    const type = kind === 'info' ? 'gauge' : kind;
    const head = [`# HELP ${sampleName} ${escape(help)}`, `# TYPE ${sampleName} ${type}`];
    return [...head, ...lines.values()];
  }
  return [
    `# TYPE ${name} ${kind}`,
    ...(unit === '' ? [] : [`# UNIT ${name} ${unit}`]),
    `# HELP ${name} ${escape(help)}`,
    ...lines.values(),
  ];
}

function renderLabels(labels: Labels): string {
  const pairs = Object.entries(labels).flatMap(([name, value]) =>
    value === undefined ? [] : `${name}="${escape(String(value))}"`,
  );
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escape(text: string): string {
  return text
    .replaceAll('\\', '\\\\')
    .replaceAll('\n', String.raw`\n`)
    .replaceAll('"', '\\"');
}
