import type { MetricObjectWithValues, MetricValue } from 'prom-client';

import { isRecord } from '#server/lib/unknown-values.ts';

type Metric = MetricObjectWithValues<MetricValue<string>>;

/** The metrics of a process, as `Registry.getMetricsAsJSON` returns them. */
export type MetricsSnapshot = readonly Metric[];

const TYPES = new Set<unknown>(['counter', 'gauge', 'histogram', 'summary']);
/** Those of prom-client. */
const AGGREGATORS = new Set<unknown>(['sum', 'first', 'omit', 'average', 'min', 'max']);

/**
 * Reads the metrics that a worker sent, perhaps one of another version. Metrics and values that are not valid are left out:
 * they must not prevent the sums of the others. A value that is no finite number (NaN) arrives as null.
 * @returns null when it is no list
 */
export function readSnapshot(payload: unknown): MetricsSnapshot | null {
  if (!Array.isArray(payload)) return null;
  return payload
    .filter(isMetric)
    .map((metric) => ({ ...metric, values: metric.values.filter(isValue) }));
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

function isValue(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { labels, metricName = '' } = value;
  if (!isRecord(labels) || typeof metricName !== 'string') return false;
  const isLabelled = Object.values(labels).every((label) =>
    ['string', 'number'].includes(typeof label),
  );
  return isLabelled && Number.isFinite(value['value']);
}
