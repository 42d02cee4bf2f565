import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { findProgram } from '#agent/read/small-file.ts';

import type { ProgramPlan } from './program.ts';

/** A similar program of a Debian package, or the reason why it is not measured. */
type Other = ProgramPlan | { readonly name: string; readonly absent: string };

/** node_exporter, Netdata and Glances, each configured to collect once a second and to store nothing on disk. */
export function listOthers(directory: string): readonly Other[] {
  return [
    describe('node_exporter', 'prometheus-node-exporter', (path) => ({
      command: [path, '--web.listen-address=127.0.0.1:19100'],
      query: () => fetchWhole('http://127.0.0.1:19100/metrics'),
    })),
    describe('Netdata', 'netdata', (path) => ({
      command: [path, '-D', '-c', writeNetdataConfiguration(join(directory, 'netdata'))],
      query: () => fetchWhole('http://127.0.0.1:19999/api/v1/data?chart=system.cpu&after=-1'),
    })),
    describe('Glances', 'glances', (path) => ({
      command: [path, '-w', '-B', '127.0.0.1', '-p', '61208', '-t', '1', '--disable-webui'],
      query: () => fetchWhole('http://127.0.0.1:61208/api/3/all'),
    })),
  ];
}

function describe(
  name: string,
  debianPackage: string,
  plan: (path: string) => Omit<ProgramPlan, 'name'>,
): Other {
  const path = findProgram(debianPackage, process.env['PATH'] ?? '');
  if (path === null) return { name, absent: `not installed (apt-get install ${debianPackage})` };
  return { name, ...plan(path) };
}

async function fetchWhole(url: string): Promise<void> {
  const response = await fetch(url);
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`${url} answers ${response.status}.`);
}

function writeNetdataConfiguration(directory: string): string {
  const places = ['cache', 'lib', 'log'].map((name) => [name, join(directory, name)] as const);
  for (const [, path] of places) mkdirSync(path, { recursive: true });
  const file = join(directory, 'netdata.conf');
  const lines = [
    '[global]\nrun as user = root\n[directories]',
    ...places.map(([name, path]) => `${name} = ${path}`),
    '[db]\nmode = ram\n[web]\nbind to = 127.0.0.1:19999\n',
  ];
  writeFileSync(file, lines.join('\n'));
  return file;
}
