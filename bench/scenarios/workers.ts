import { join } from 'node:path';

import { validationTemplates } from '../lib/bodies.ts';
import { requireNoFailures } from '../lib/http-load.ts';
import { type ServerProcess, seedDataDirectory } from '../lib/processes.ts';
import { readProcessorSecondsWithWorkers } from '../lib/processor-time.ts';
import type { LoadResult } from '../lib/recorder.ts';
import { median, printProgress } from '../lib/report.ts';
import type { Scale } from '../lib/scale.ts';
import { startServiceCommand } from '../lib/service-command.ts';
import { findWrk, runWrk, writeBodies } from '../lib/wrk.ts';

const CONNECTIONS = [64, 256];
const VALIDATE = '/api/v1/licenses/validate';
const EMPTY = '/bench/empty/validate';

/** Worker processes; null: one process without a supervisor. */
const FORMS = [null, 1, 2] as const;

interface Deployment {
  readonly workers: number | null;
  readonly service: ServerProcess;
}

/** One measurement of a deployment. */
export interface WorkerRound {
  readonly workers: number | null;
  readonly connections: number;
  readonly validate: LoadResult & { readonly microseconds: number };
  readonly empty: LoadResult;
}

/** Measures validate and the empty route alternately, with one process and with workers. */
export async function measureWorkers(root: string, scale: Scale): Promise<WorkerRound[]> {
  const wrk = findWrk();
  if (wrk === null) throw new Error('The load of several processes is made by wrk: install it.');
  const bodiesFile = join(root, 'validations.txt');
  await writeBodies(bodiesFile, validationTemplates(scale.fewActivations));
  const load = (service: ServerProcess, path: string, connections: number): Promise<LoadResult> => {
    const { target } = service;
    return runWrk(wrk, {
      target,
      path,
      bodiesFile,
      connections,
      seconds: scale.secondsByConnections,
    });
  };
  const deployments = await startAll(root, scale);
  try {
    for (const { service } of deployments) {
      for (const path of [VALIDATE, EMPTY]) await load(service, path, 64);
    }
    return await measureRounds(deployments, load, scale.rounds);
  } finally {
    await Promise.all(deployments.map(({ service }) => service.stop()));
  }
}

async function startAll(root: string, scale: Scale): Promise<Deployment[]> {
  const deployments: Deployment[] = [];
  for (const workers of FORMS) {
    const directory = join(root, `workers-${workers ?? 'none'}`);
    await seedDataDirectory(directory, scale.fewActivations);
    deployments.push({ workers, service: await startServiceCommand(directory, workers) });
  }
  return deployments;
}

type Load = (service: ServerProcess, path: string, connections: number) => Promise<LoadResult>;

async function measureRounds(
  deployments: readonly Deployment[],
  load: Load,
  count: number,
): Promise<WorkerRound[]> {
  const rounds: WorkerRound[] = [];
  for (let number = 1; number <= count; number++) {
    for (const connections of CONNECTIONS) {
      for (const { workers, service } of deployments) {
        const before = readProcessorSecondsWithWorkers(service.pid);
        const validate = requireNoFailures(await load(service, VALIDATE, connections));
        const used = readProcessorSecondsWithWorkers(service.pid) - before;
        const microseconds = (1e6 * used) / validate.requests;
        const empty = requireNoFailures(await load(service, EMPTY, connections));
        rounds.push({ workers, connections, validate: { ...validate, microseconds }, empty });
      }
    }
    printProgress(`round ${number} of ${count}`);
  }
  return rounds;
}

const HEADS = ['connections', 'processes', 'validate / s', 'empty route / s', 'ratio'];
const MORE_HEADS = ['µs a validation', 'p50, ms', 'p99, ms', 'empty p99, ms'];

/** Prints the medians as Markdown. */
export function printWorkers(rounds: readonly WorkerRound[]): void {
  const heads = [...HEADS, ...MORE_HEADS];
  console.log(`| ${heads.join(' | ')} |\n|${heads.map(() => '---:|').join('')}`);
  for (const connections of CONNECTIONS) {
    for (const workers of FORMS) {
      const same = rounds.filter(
        (round) => round.connections === connections && round.workers === workers,
      );
      console.log(`| ${describe(connections, workers, same).join(' | ')} |`);
    }
  }
}

function describe(
  connections: number,
  workers: number | null,
  rounds: readonly WorkerRound[],
): (string | number)[] {
  const middle = (read: (round: WorkerRound) => number): number => median(rounds.map(read));
  return [
    connections,
    workers === null ? 'one, no supervisor' : `${workers} worker${workers === 1 ? '' : 's'}`,
    middle(({ validate }) => validate.requestsPerSecond).toFixed(0),
    middle(({ empty }) => empty.requestsPerSecond).toFixed(0),
    middle(({ validate, empty }) => validate.requestsPerSecond / empty.requestsPerSecond).toFixed(
      2,
    ),
    middle(({ validate }) => validate.microseconds).toFixed(0),
    middle(({ validate }) => validate.p50).toFixed(1),
    middle(({ validate }) => validate.p99).toFixed(1),
    middle(({ empty }) => empty.p99).toFixed(1),
  ];
}
