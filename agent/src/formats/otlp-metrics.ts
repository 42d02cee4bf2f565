import type { AgentOtlpRequest } from '@latchkey/contract';

type Resource = AgentOtlpRequest['resourceMetrics'][number];
type Metric = Resource['scopeMetrics'][number]['metrics'][number];
type DataPoint = NonNullable<Metric['gauge']>['dataPoints'][number];
type Attribute = DataPoint['attributes'][number];

/** Names and values that identify a point of a metric. */
export type Attributes = Readonly<Record<string, string | number | undefined>>;

/** The unit and the kind of a metric. */
interface Definition {
  readonly unit: string;
  /** A `counter` only grows; a `sum` can be added up over machines, a `gauge` cannot. */
  readonly kind: 'counter' | 'sum' | 'gauge';
}

/** A value with its attributes; undefined values are left out. */
export type Point = readonly [value: number | undefined, attributes?: Attributes];

/** Collects the metrics of one snapshot. A metric without points is left out. */
export class Metrics {
  readonly list: Metric[] = [];
  readonly #startTimeUnixNano: string;
  readonly #timeUnixNano: string;

  /**
   * @param startMs Unix time in milliseconds when the counters started
   * @param atMs Unix time of the reading
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

/** Encodes attributes; undefined ones are left out. */
export function toAttributes(attributes: Attributes): Attribute[] {
  const list: Attribute[] = [];
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === 'string') list.push({ key, value: { stringValue: value } });
    if (typeof value === 'number') list.push({ key, value: { intValue: value } });
  }
  return list;
}

/** Protocol buffers encode 64-bit integers as decimal strings in JSON. */
function toNanoseconds(ms: number): string {
  return String(BigInt(Math.round(ms)) * 1_000_000n);
}
