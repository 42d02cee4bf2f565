import type { AgentOtlpRequest } from '@latchkey/contract';

type Resource = AgentOtlpRequest['resourceMetrics'][number];
type Metric = Resource['scopeMetrics'][number]['metrics'][number];
type DataPoint = NonNullable<Metric['gauge']>['dataPoints'][number];
type Attribute = DataPoint['attributes'][number];

/** Names and values that tell one point of a metric from another. */
export type Attributes = Readonly<Record<string, string | number | undefined>>;

/** What a metric is measured in, and what kind of figure it is. */
interface Definition {
  readonly unit: string;
  /** `counter` only grows, `sum` can be added up over machines, `gauge` cannot. */
  readonly kind: 'counter' | 'sum' | 'gauge';
}

/** A value with its attributes; undefined where the machine does not say it. */
export type Point = readonly [value: number | undefined, attributes?: Attributes];

/** Gathers the metrics of one snapshot. A metric without points is left out. */
export class Metrics {
  readonly list: Metric[] = [];
  readonly #startTimeUnixNano: string;
  readonly #timeUnixNano: string;

  /**
   * @param startMs Unix time in milliseconds from which on the counters count
   * @param atMs when they were read
   */
  constructor(startMs: number, atMs: number) {
    this.#startTimeUnixNano = toNanoseconds(startMs);
    this.#timeUnixNano = toNanoseconds(atMs);
  }

  add(name: string, { unit, kind }: Definition, points: Iterable<Point>): void {
    const dataPoints: DataPoint[] = [];
    for (const [asDouble, attributes = {}] of points) {
      if (asDouble === undefined) continue;
      dataPoints.push({
        attributes: toAttributes(attributes),
        startTimeUnixNano: this.#startTimeUnixNano,
        timeUnixNano: this.#timeUnixNano,
        asDouble,
      });
    }
    if (dataPoints.length === 0) return;
    const head = { name, description: '', unit };
    if (kind === 'gauge') this.list.push({ ...head, gauge: { dataPoints } });
    else {
      const isMonotonic = kind === 'counter';
      this.list.push({ ...head, sum: { aggregationTemporality: 2, isMonotonic, dataPoints } });
    }
  }
}

/** Attributes as OTLP writes them; those that are undefined are left out. */
export function toAttributes(attributes: Attributes): Attribute[] {
  const list: Attribute[] = [];
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === 'string') list.push({ key, value: { stringValue: value } });
    if (typeof value === 'number') list.push({ key, value: { intValue: value } });
  }
  return list;
}

/** 64-bit integers are decimal strings in the JSON of protocol buffers. */
function toNanoseconds(ms: number): string {
  return String(BigInt(Math.round(ms)) * 1_000_000n);
}
