import type { MetricObjectWithValues, MetricValue } from 'prom-client';

import { isRecord } from '#server/lib/unknown-values.ts';

type Metric = Pick<
  MetricObjectWithValues<MetricValue<string>>,
  'name' | 'help' | 'type' | 'aggregator' | 'values'
>;
type Value = MetricValue<string> & { readonly metricName?: string };

/** The metrics of a process, as `Registry.getMetricsAsJSON` returns them. */
export type MetricsSnapshot = readonly Metric[];

const TYPES = new Set<unknown>(['counter', 'gauge', 'histogram', 'summary']);
/** Those of prom-client. */
const AGGREGATORS = new Set<unknown>(['sum', 'first', 'omit', 'average', 'min', 'max']);

/** 1.4 times what this program has after each route has answered with each of its statuses. */
const MAX_VALUES = 30_000;

/** Of all names and labels of a snapshot. A value of this program has about 100. */
const MAX_CHARACTERS = 4 * 1_048_576;

/**
 * Reads the metrics that a worker sent, perhaps one of another version. Metrics and values that are not valid are left out:
 * they must not prevent the sums of the others. A value that is no finite number (NaN) arrives as null.
 * @returns null when it is no list, or too large
 */
export function readSnapshot(payload: unknown): MetricsSnapshot | null {
  if (!Array.isArray(payload) || payload.length > MAX_VALUES) return null;
  const snapshot = payload.filter(isMetric).map(copyMetric);
  return isTooLarge(snapshot) ? null : snapshot;
}

/** Whether a snapshot has more values or text than the supervisor keeps: it does not trust its workers. */
export function isTooLarge(snapshot: MetricsSnapshot): boolean {
  let values = 0;
  let characters = 0;
  for (const metric of snapshot) {
    values += 1 + metric.values.length;
    characters += metric.name.length + metric.help.length;
    for (const value of metric.values) characters += countCharacters(value);
  }
  return values > MAX_VALUES || characters > MAX_CHARACTERS;
}

function countCharacters({ labels, metricName = '' }: Value): number {
  return Object.entries(labels).reduce(
    (sum, [name, label = '']) => sum + name.length + String(label).length,
    metricName.length,
  );
}

function isMetric(value: unknown): value is Metric {
  return (
    isRecord(value) &&
    typeof value['name'] === 'string' &&
    typeof value['help'] === 'string' &&
    TYPES.has(value['type']) &&
    AGGREGATORS.has(value['aggregator']) &&
    Array.isArray(value['values'])
  );
}

/** Without what else a worker may have sent. */
function copyMetric({ name, help, type, aggregator, values }: Metric): Metric {
  return { name, help, type, aggregator, values: values.filter(isValue).map(copyValue) };
}

function copyValue({ labels, value, metricName }: Value): Value {
  return { labels, value, ...(metricName === undefined ? {} : { metricName }) };
}

function isValue(value: unknown): value is Value {
  if (!isRecord(value)) return false;
  const { labels, metricName = '' } = value;
  if (!isRecord(labels) || typeof metricName !== 'string') return false;
  const isLabelled = Object.values(labels).every((label) =>
    ['string', 'number'].includes(typeof label),
  );
  return isLabelled && Number.isFinite(value['value']);
}
