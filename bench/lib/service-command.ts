import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { isRecord } from '#server/lib/unknown-values.ts';

import { serviceSettings, type ServerProcess } from './processes.ts';

const COMMAND = fileURLToPath(new URL('../../server/src/main.ts', import.meta.url));
const EMPTY_ROUTE = new URL('../empty-route.ts', import.meta.url).href;

/**
 * Starts `latchkey serve`, with the empty route for comparison.
 * @param workers null: one process without a supervisor
 */
export async function startServiceCommand(
  dataDirectory: string,
  workers: number | null,
): Promise<ServerProcess> {
  const more = workers === null ? [] : ['--workers', String(workers)];
  const child = spawn(process.execPath, [COMMAND, 'serve', ...more], {
    env: { ...serviceSettings(dataDirectory), NODE_OPTIONS: `--import=${EMPTY_ROUTE}` },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await readUrl(child);
  return {
    pid: child.pid ?? 0,
    target: { host: url.hostname, port: Number(url.port) },
    async stop() {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    },
  };
}

/** Reads the log until the service listens; discards the later lines. */
async function readUrl({ stdout }: ChildProcess): Promise<URL> {
  if (stdout === null) throw new Error('the output of the service is not read');
  const lines = createInterface({ input: stdout });
  for await (const line of lines) {
    const entry: unknown = JSON.parse(line);
    if (!isRecord(entry) || entry['event'] !== 'service.listening') continue;
    stdout.resume();
    return new URL(String(entry['url']));
  }
  throw new Error('the service did not start');
}
