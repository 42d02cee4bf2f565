import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import type { Target } from './http-connection.ts';
import type { LoadResult } from './recorder.ts';

const run = promisify(execFile);

const SCRIPT = fileURLToPath(new URL('wrk.lua', import.meta.url));

/** A load by wrk: one thread that sends the bodies of a file. */
export interface WrkLoad {
  readonly target: Target;
  readonly path: string;
  readonly bodiesFile: string;
  readonly connections: number;
  readonly seconds: number;
}

/** Returns the path of wrk; null if it is not in PATH. */
export function findWrk(): string | null {
  const files = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'wrk'));
  return files.find(isExecutable) ?? null;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    // Missing or not executable: tries the next folder.
    return false;
  }
}

/** Writes the bodies for {@link runWrk}, with `#` as the placeholder of the number. */
export async function writeBodies(file: string, bodies: readonly string[]): Promise<void> {
  await writeFile(file, `${bodies.join('\n')}\n`);
}

/** Runs wrk in a closed loop. @throws {Error} when wrk printed no result */
export async function runWrk(wrk: string, load: WrkLoad): Promise<LoadResult> {
  const { target, path, bodiesFile, connections, seconds } = load;
  const url = `http://${target.host}:${target.port}${path}`;
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '5s', '-s', SCRIPT, url];
  const first = Math.floor(Math.random() * 1_000_000);
  const env = { ...process.env, BENCH_BODIES: bodiesFile, BENCH_FIRST: String(first) };
  const { stdout } = await run(wrk, args, { env });
  return readResult(stdout);
}

function readResult(output: string): LoadResult {
  const result: Record<string, unknown> = Object(
    JSON.parse(/^RESULT (.*)$/m.exec(output)?.[1] ?? 'null'),
  );
  const read = (name: string): number => {
    const value = Number(result[name]);
    if (!Number.isFinite(value)) throw new Error(`wrk reported no ${name}: ${output}`);
    return value;
  };
  const requests = read('requests');
  return {
    requests,
    requestsPerSecond: requests / (read('microseconds') / 1e6),
    p50: read('p50') / 1000,
    p99: read('p99') / 1000,
    max: read('max') / 1000,
    failures: read('failures'),
  };
}
