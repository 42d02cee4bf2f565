import { join } from 'node:path';

import { validationBodies, validationTemplates } from '../lib/bodies.ts';
import { requireNoFailures, runClosedLoop } from '../lib/http-load.ts';
import { type ServerProcess, type ServiceProcess, startBareServer } from '../lib/processes.ts';
import { readProcessorSeconds } from '../lib/processor-time.ts';
import type { LoadResult } from '../lib/recorder.ts';
import { median, printProgress } from '../lib/report.ts';
import type { Scale } from '../lib/scale.ts';
import { findWrk, runWrk, writeBodies } from '../lib/wrk.ts';

const CONNECTIONS = [16, 32, 64, 128, 256, 512];
const VALIDATE = '/api/v1/licenses/validate';
const EMPTY = '/bench/empty/validate';

/** The results for a number of connections: medians of all rounds. */
export interface ConnectionRow {
  readonly connections: number;
  readonly validatePerSecond: number;
  readonly emptyPerSecond: number;
  /** Median of the ratios of each round. */
  readonly ratio: number;
  /** Processor time of the service, all threads, as a share of one core. */
  readonly busyPercent: number;
  /** Processor time of the service per validation, and per request of the empty route. */
  readonly microseconds: number;
  readonly emptyMicroseconds: number;
  /** The same of a bare HTTP server of Node.js. */
  readonly bareMicroseconds: number;
  /** Latency in milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

/** The rows, and the load generator. */
export interface ConnectionTable {
  readonly generator: string;
  readonly rounds: number;
  readonly rows: readonly ConnectionRow[];
}

interface Sample extends LoadResult {
  readonly busyPercent: number;
  readonly microseconds: number;
}

type Load = (server: ServerProcess, path: string, connections: number) => Promise<LoadResult>;

/** Measures validate, the empty route and a bare server alternately, at each number of connections. */
export async function measureByConnections(
  service: ServiceProcess,
  scale: Scale,
): Promise<ConnectionTable> {
  const bare = await startBareServer();
  const wrk = findWrk();
  const load = wrk === null ? createOwnLoad(scale) : await createWrkLoad(wrk, service, scale);
  const rounds: Round[] = [];
  for (const path of [VALIDATE, EMPTY]) await load(service, path, 64);
  await load(bare, EMPTY, 64);
  for (let number = 1; number <= scale.rounds; number++) {
    for (const connections of CONNECTIONS) {
      const round = await measureRound(service, bare, connections, load);
      rounds.push(round);
      printProgress(
        `${connections} connections, round ${number} of ${scale.rounds}: ${ratioOf(round).toFixed(2)}`,
      );
    }
  }
  await bare.stop();
  return {
    generator: wrk === null ? "the bench's own, in its process" : 'wrk, one thread',
    rounds: scale.rounds,
    rows: CONNECTIONS.map((connections) =>
      summarize(
        connections,
        rounds.filter((round) => round.connections === connections),
      ),
    ),
  };
}

interface Round {
  readonly connections: number;
  readonly validate: Sample;
  readonly empty: Sample;
  readonly bare: Sample;
}

async function measureRound(
  service: ServerProcess,
  bare: ServerProcess,
  connections: number,
  load: Load,
): Promise<Round> {
  return {
    connections,
    validate: await sample(service, () => load(service, VALIDATE, connections)),
    empty: await sample(service, () => load(service, EMPTY, connections)),
    bare: await sample(bare, () => load(bare, EMPTY, connections)),
  };
}

function ratioOf({ validate, empty }: Round): number {
  return validate.requestsPerSecond / empty.requestsPerSecond;
}

async function createWrkLoad(wrk: string, service: ServiceProcess, scale: Scale): Promise<Load> {
  const bodiesFile = join(service.dataDirectory, '..', 'validations.txt');
  await writeBodies(bodiesFile, validationTemplates(scale.fewActivations));
  const seconds = scale.secondsByConnections;
  return ({ target }, path, connections) =>
    runWrk(wrk, { target, path, bodiesFile, connections, seconds });
}

function createOwnLoad(scale: Scale): Load {
  const nextBody = validationBodies(scale.fewActivations);
  const seconds = scale.secondsByConnections;
  return ({ target }, path, connections) =>
    runClosedLoop({ target, path, nextBody, connections, seconds });
}

async function sample({ pid }: ServerProcess, load: () => Promise<LoadResult>): Promise<Sample> {
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

function summarize(connections: number, rounds: readonly Round[]): ConnectionRow {
  const middle = (read: (round: Round) => number): number => median(rounds.map(read));
  return {
    connections,
    validatePerSecond: middle(({ validate }) => validate.requestsPerSecond),
    emptyPerSecond: middle(({ empty }) => empty.requestsPerSecond),
    ratio: middle(ratioOf),
    busyPercent: middle(({ validate }) => validate.busyPercent),
    microseconds: middle(({ validate }) => validate.microseconds),
    emptyMicroseconds: middle(({ empty }) => empty.microseconds),
    bareMicroseconds: middle(({ bare }) => bare.microseconds),
    p50: middle(({ validate }) => validate.p50),
    p99: middle(({ validate }) => validate.p99),
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
    'bare µs',
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
      row.bareMicroseconds.toFixed(0),
      row.p50.toFixed(1),
      row.p99.toFixed(1),
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
}
