import type { AgentOtlpRequest } from '@latchkey/contract';

type Resource = AgentOtlpRequest['resourceMetrics'][number];
type Metric = Resource['scopeMetrics'][number]['metrics'][number];
type DataPoint = NonNullable<Metric['gauge']>['dataPoints'][number];
type Attribute = DataPoint['attributes'][number];

/** Names and values that identify a point of a metric. */
export type Attributes = Readonly<Record<string, string | number | undefined>>;

/** A value with its attributes; undefined values are left out. */
export type Point = readonly [value: number | undefined, attributes?: Attributes];

/** Returns a point for each item: the value of one field, with the attributes of the item. */
export function pointsOf<
  Field extends string,
  Item extends { readonly [Name in Field]?: number | undefined },
>(items: readonly Item[], field: Field, describeItem: (item: Item) => Attributes): Point[] {
  return items.map((item) => [item[field], describeItem(item)]);
}

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

  gauge(name: string, unit: string, points: Iterable<Point>): void {
    const dataPoints = this.#toDataPoints(points);
    if (dataPoints.length > 0) this.list.push({ ...describe(name, unit), gauge: { dataPoints } });
  }

  /** Adds a metric that can be added up over machines. */
  sum(name: string, unit: string, points: Iterable<Point>): void {
    this.#addSum(name, unit, points, false);
  }

  /** Adds a sum that only grows. */
  counter(name: string, unit: string, points: Iterable<Point>): void {
    this.#addSum(name, unit, points, true);
  }

  #addSum(name: string, unit: string, points: Iterable<Point>, isMonotonic: boolean): void {
    const dataPoints = this.#toDataPoints(points);
    if (dataPoints.length === 0) return;
    const sum = { aggregationTemporality: 2, isMonotonic, dataPoints } as const;
    this.list.push({ ...describe(name, unit), sum });
  }

  #toDataPoints(points: Iterable<Point>): DataPoint[] {
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
    return dataPoints;
  }
}

function describe(name: string, unit: string) {
  return { name, description: '', unit };
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
