import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { findProgram } from '#agent/read/small-file.ts';

import { findFreePort } from './find-free-port.ts';

/** Queries without a pause would take the processor from what is scraped. */
const QUERY_PAUSE_MS = 100;

const searchPath = process.env['PATH'] ?? '';

/** The programs of Debian's package `prometheus`; null where one is not installed. */
export const promtool = findProgram('promtool', searchPath);
export const prometheus = findProgram('prometheus', searchPath);

/** A running Prometheus. */
export interface Prometheus extends AsyncDisposable {
  /** The address of its interface. */
  readonly url: string;
  /** Waits until an expression has results that satisfy a condition, and returns the values by the label `job`; the timeout of the test ends an endless wait. */
  waitForValues(
    expression: string,
    isDone: (values: ReadonlyMap<string, string>) => boolean,
  ): Promise<ReadonlyMap<string, string>>;
}

/** Starts Prometheus on a free port, and waits until it is ready. @param configuration the text of prometheus.yml */
export async function startPrometheus(
  program: string,
  directory: string,
  configuration: string,
): Promise<Prometheus> {
  const port = await findFreePort();
  const file = join(directory, 'prometheus.yml');
  writeFileSync(file, configuration);
  const child = spawn(program, [
    `--config.file=${file}`,
    `--storage.tsdb.path=${join(directory, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ]);
  const ended = once(child, 'exit');
  const waitUntil = async (isDone: () => Promise<boolean>): Promise<void> => {
    while (!(await isDone())) {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error('Prometheus ended.');
      await sleep(QUERY_PAUSE_MS);
    }
  };
  await waitUntil(() => isReady(port));
  return {
    url: `http://127.0.0.1:${port}`,
    async waitForValues(expression, isDone) {
      let values: ReadonlyMap<string, string> = new Map();
      await waitUntil(async () => {
        values = await query(port, expression);
        return isDone(values);
      });
      return values;
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** It listens before it answers queries. */
async function isReady(port: number): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}/-/ready`).catch(() => null);
  return response?.status === 200;
}

async function query(port: number, expression: string): Promise<ReadonlyMap<string, string>> {
  const url = `http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(expression)}`;
  const answer: {
    data: { result: { metric: { job: string }; value: [number, string] }[] };
  } = JSON.parse(await (await fetch(url)).text());
  return new Map(answer.data.result.map(({ metric, value }) => [metric.job, value[1]]));
}
