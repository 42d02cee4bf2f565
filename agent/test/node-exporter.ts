import { execFileSync, spawn } from 'node:child_process';

import { findProgram } from '#agent/read/small-file.ts';

/** Metrics by name and labels, such as `node_load1` or `node_disk_read_bytes_total{device="vda"}`. */
export type Metrics = ReadonlyMap<string, number>;

export interface NodeExporter {
  query(): Promise<Metrics>;
  close(): Promise<void>;
}

const NAMES = ['prometheus-node-exporter', 'node_exporter'];

const COLLECTORS = [
  'cpu',
  'diskstats',
  'filesystem',
  'loadavg',
  'meminfo',
  'netdev',
  'pressure',
  'vmstat',
];

const ARGUMENTS = [
  '--web.listen-address=127.0.0.1:0',
  '--collector.disable-defaults',
  ...COLLECTORS.map((name) => `--collector.${name}`),
  '--collector.filesystem.fs-types-exclude=^$',
  '--collector.filesystem.mount-points-exclude=^$',
];

/** Stops the program when standard input is closed, which also happens when the test is killed. */
const WATCH = '"$0" "$@" & read -r _; kill "$!"; wait';

/** Returns the path of node_exporter; null when it is not installed. */
export function findNodeExporter(): string | null {
  const searchPath = process.env['PATH'] ?? '';
  return NAMES.map((name) => findProgram(name, searchPath)).find((path) => path !== null) ?? null;
}

/** Starts node_exporter on a free port of 127.0.0.1. */
export async function startNodeExporter(program: string): Promise<NodeExporter> {
  const child = spawn('sh', ['-c', WATCH, program, ...ARGUMENTS], {
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const close = async (): Promise<void> => {
    child.stdin.end();
    await ended;
  };
  try {
    const port = await readPort(child.stderr);
    return { query: () => query(port), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Reads the port from the log. */
async function readPort(log: AsyncIterable<Buffer>): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let output = '';
  const read = async (): Promise<void> => {
    for await (const chunk of log) {
      output += chunk.toString('utf8');
      const port = /msg="?Listening on"? address=127\.0\.0\.1:(\d+)/.exec(output)?.[1];
      if (port !== undefined) resolve(port);
    }
    reject(new Error(`node_exporter ended before it listened: ${output}`));
  };
  read().catch(reject);
  return await promise;
}

async function query(port: string): Promise<Metrics> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith('node_'));
  const metrics = new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(' ');
      return [line.slice(0, end), Number(line.slice(end + 1))] as const;
    }),
  );
  return new Map([...metrics, ...listInterrupts(metrics), ...listSwapped(metrics)]);
}

/** Adds hard and soft interrupts, which the agent reports as one mode. */
function listInterrupts(metrics: Metrics): [string, number][] {
  return [...metrics]
    .filter(([key]) => key.startsWith('node_cpu_seconds_total') && key.includes('mode="irq"'))
    .map(([key, hard]) => [
      key.replace('"irq"', '"interrupt"'),
      hard + (metrics.get(key.replace('"irq"', '"softirq"')) ?? Number.NaN),
    ]);
}

/** Converts swapped pages to bytes, which the agent reports. */
function listSwapped(metrics: Metrics): [string, number][] {
  const pageBytes = Number(execFileSync('getconf', ['PAGESIZE'], { encoding: 'utf8' }));
  return ['in', 'out'].map((way) => [
    `node_swap_${way}_bytes_total`,
    (metrics.get(`node_vmstat_pswp${way}`) ?? Number.NaN) * pageBytes,
  ]);
}
