/** The plots of a report, from what was measured. */
import type { FaultWindow } from '../expectations/expectations.ts';
import type { Operation } from '../load/operations.ts';
import type { Day } from '../run-day.ts';
import type { Sample } from '../sample/sampler.ts';
import type { Plot, Series, TimeAxis } from './plot.ts';

/** The operations whose latency is compared: more lines are not readable. */
const COMPARED = [
  'heartbeat',
  'events',
  'webhook',
  'activate',
  'list',
  'report',
] as const satisfies readonly Operation[];

const MAX_SERIES = 6;
const HOURS_OF_TICKS = [0, 6, 12, 18, 24] as const;

/** Creates the axis of time: hours of the simulated day, and the faults. */
export function createTimeAxis(
  { endedAt, startedAt }: Day,
  durationMs: number,
  windows: readonly FaultWindow[],
): TimeAxis {
  const since = (time: number): number => (time - startedAt) / 1_000;
  return {
    seconds: Math.max(durationMs / 1_000, since(endedAt)),
    ticks: HOURS_OF_TICKS.map((hour) => ({
      atSeconds: (durationMs / 1_000) * (hour / 24),
      label: `${String(hour).padStart(2, '0')}:00`,
    })),
    bands: windows.map(({ causeEndedAt, from, recoveredAt }, index) => ({
      number: index + 1,
      fromSeconds: since(from),
      toSeconds: since(recoveredAt ?? causeEndedAt ?? endedAt),
    })),
  };
}

/** Lists the plots of a day. */
export function listPlots({ endedAt, recorder, samples }: Day): Plot[] {
  const slices = recorder.listSlices(endedAt);
  const ofSlices = (
    name: string,
    read: (slice: (typeof slices)[number]) => number | null,
  ): Series => ({
    name,
    points: slices.map((slice) => [slice.atSeconds, read(slice)] as const),
  });
  const ofSamples = (name: string, read: (sample: Sample) => number | null): Series => ({
    name,
    points: samples.map((sample) => [sample.atSeconds, read(sample)] as const),
  });
  return [
    {
      title: 'Requests',
      unit: 'a second',
      series: [
        ofSlices('answered', (slice) => slice.perSecond),
        ofSlices('unusual', (slice) => slice.unusualPerSecond),
      ],
    },
    {
      title: 'Behind plan',
      unit: 'seconds from when a request was due until it was sent, at most',
      series: [ofSlices('latest request', (slice) => slice.behindSeconds)],
    },
    {
      title: 'Latency of validations',
      unit: 'milliseconds, logarithmic; from when a request was due',
      isLogarithmic: true,
      series: [
        ofSlices('median', (slice) => slice.p50.validate),
        ofSlices('99 %', (slice) => slice.p99.validate),
      ],
    },
    {
      title: 'Latency of other operations, 99 %',
      unit: 'milliseconds, logarithmic',
      isLogarithmic: true,
      series: COMPARED.map((operation) => ofSlices(operation, (slice) => slice.p99[operation])),
    },
    {
      title: 'Memory of the service',
      unit: 'MiB resident, with its workers',
      series: [ofSamples('service', ({ memoryMib }) => memoryMib)],
    },
    {
      title: 'Database',
      unit: 'MiB',
      series: [ofSamples('database', ({ databaseMib }) => databaseMib)],
    },
    {
      title: 'Write-ahead log',
      unit: 'MiB written since the start of the day',
      series: [ofSamples('written', ({ walMib }) => walMib)],
    },
    {
      title: 'Batches',
      unit: 'calls in a batch, on average',
      series: listBatches(samples, ofSamples),
    },
  ];
}

/** The batches that were largest at some time. */
function listBatches(
  samples: readonly Sample[],
  ofSamples: (name: string, read: (sample: Sample) => number | null) => Series,
): Series[] {
  const names = new Set(samples.flatMap(({ batchSizes }) => [...batchSizes.keys()]));
  const largest = (name: string): number =>
    samples.reduce((size, { batchSizes }) => Math.max(size, batchSizes.get(name) ?? 0), 0);
  return [...names]
    .sort((a, b) => largest(b) - largest(a))
    .slice(0, MAX_SERIES)
    .map((name) =>
      ofSamples(name.replaceAll('_', ' '), ({ batchSizes }) => batchSizes.get(name) ?? null),
    );
}
