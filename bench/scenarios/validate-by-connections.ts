import { join } from 'node:path';

import { validationBodies, validationTemplates } from '../lib/bodies.ts';
import { requireNoFailures, runClosedLoop } from '../lib/http-load.ts';
import type { ServiceProcess } from '../lib/processes.ts';
import { readProcessorSeconds } from '../lib/processor-time.ts';
import type { LoadResult } from '../lib/recorder.ts';
import { median } from '../lib/report.ts';
import type { Scale } from '../lib/scale.ts';
import { findWrk, runWrk, writeBodies } from '../lib/wrk.ts';

const CONNECTIONS = [16, 32, 64, 128, 256, 512];
const VALIDATE = '/api/v1/licenses/validate';
const EMPTY = '/bench/empty/validate';

/** What was measured over so many connections: medians of all rounds. */
export interface ConnectionRow {
  readonly connections: number;
  readonly validatePerSecond: number;
  readonly emptyPerSecond: number;
  /** Median of the ratios of each round. */
  readonly ratio: number;
  /** Processor time of the service, all threads, as a share of the time that passed; of one core. */
  readonly busyPercent: number;
  /** Processor time of the service for one validation, and for one request of the empty route. */
  readonly microseconds: number;
  readonly emptyMicroseconds: number;
  /** Milliseconds until the answer. */
  readonly p50: number;
  readonly p99: number;
}

/** The rows, and what made the load. */
export interface ConnectionTable {
  readonly generator: string;
  readonly rounds: number;
  readonly rows: readonly ConnectionRow[];
}

interface Sample extends LoadResult {
  readonly busyPercent: number;
  readonly microseconds: number;
}

type Load = (path: string, connections: number) => Promise<LoadResult>;

/** Validate and the empty route by turns, at each number of connections. */
export async function measureByConnections(
  service: ServiceProcess,
  scale: Scale,
): Promise<ConnectionTable> {
  const wrk = findWrk();
  const load = wrk === null ? makeOwnLoad(service, scale) : await makeWrkLoad(wrk, service, scale);
  for (const path of [VALIDATE, EMPTY]) await load(path, 64);
  const rows = new Map(CONNECTIONS.map((connections) => [connections, newSamples()]));
  for (let round = 0; round < scale.rounds; round++) {
    for (const [connections, { validate, empty }] of rows) {
      validate.push(await sample(service, () => load(VALIDATE, connections)));
      empty.push(await sample(service, () => load(EMPTY, connections)));
    }
  }
  return {
    generator: wrk === null ? "the bench's own, in its process" : 'wrk, one thread',
    rounds: scale.rounds,
    rows: Array.from(rows, ([connections, samples]) => summarize(connections, samples)),
  };
}

interface Samples {
  readonly validate: Sample[];
  readonly empty: Sample[];
}

function newSamples(): Samples {
  return { validate: [], empty: [] };
}

async function makeWrkLoad(wrk: string, service: ServiceProcess, scale: Scale): Promise<Load> {
  const bodiesFile = join(service.dataDirectory, '..', 'validations.txt');
  await writeBodies(bodiesFile, validationTemplates(scale.fewActivations));
  const { target } = service;
  const seconds = scale.secondsByConnections;
  return (path, connections) => runWrk(wrk, { target, path, bodiesFile, connections, seconds });
}

function makeOwnLoad({ target }: ServiceProcess, scale: Scale): Load {
  const nextBody = validationBodies(scale.fewActivations);
  const seconds = scale.secondsByConnections;
  return (path, connections) => runClosedLoop({ target, path, nextBody, connections, seconds });
}

async function sample({ pid }: ServiceProcess, load: () => Promise<LoadResult>): Promise<Sample> {
  const startedAt = performance.now();
  const usedBefore = readProcessorSeconds(pid);
  const result = requireNoFailures(await load());
  const used = readProcessorSeconds(pid) - usedBefore;
  const seconds = (performance.now() - startedAt) / 1000;
  const requests = result.requestsPerSecond * seconds;
  return {
    ...result,
    busyPercent: (100 * used) / seconds,
    microseconds: (1e6 * used) / requests,
  };
}

function middle(samples: readonly Sample[], read: (sample: Sample) => number): number {
  return median(samples.map(read));
}

function summarize(connections: number, { validate, empty }: Samples): ConnectionRow {
  const ratios = validate.map(
    ({ requestsPerSecond }, round) => requestsPerSecond / (empty[round]?.requestsPerSecond ?? NaN),
  );
  return {
    connections,
    validatePerSecond: middle(validate, (each) => each.requestsPerSecond),
    emptyPerSecond: middle(empty, (each) => each.requestsPerSecond),
    ratio: median(ratios),
    busyPercent: middle(validate, (each) => each.busyPercent),
    microseconds: middle(validate, (each) => each.microseconds),
    emptyMicroseconds: middle(empty, (each) => each.microseconds),
    p50: middle(validate, (each) => each.p50),
    p99: middle(validate, (each) => each.p99),
  };
}

/** Prints the table as Markdown. */
export function printByConnections({ generator, rounds, rows }: ConnectionTable): void {
  console.log(`\nValidate by connections, medians of ${rounds} rounds; load: ${generator}\n`);
  const heads = [
    'connections',
    'validate/s',
    'empty/s',
    'ratio',
    'busy %',
    'µs',
    'empty µs',
    'p50 ms',
    'p99 ms',
  ];
  console.log(`| ${heads.join(' | ')} |\n|${heads.map(() => '---:|').join('')}`);
  for (const row of rows) {
    const cells = [
      row.connections,
      row.validatePerSecond.toFixed(0),
      row.emptyPerSecond.toFixed(0),
      row.ratio.toFixed(2),
      row.busyPercent.toFixed(0),
      row.microseconds.toFixed(0),
      row.emptyMicroseconds.toFixed(0),
      row.p50.toFixed(1),
      row.p99.toFixed(1),
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
}
