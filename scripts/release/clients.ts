/** The client libraries of a release. */
import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import type { TarEntry } from '../../agent/src/system/tar.ts';
import { buildPackage } from '../../clients/typescript/build/package.ts';
import { listClients } from '../../clients/conformance/driver/clients.ts';
import { compressArchive } from '../package/compress.ts';
import type { ReleaseFile } from './release-file.ts';

const run = promisify(execFile);

/** The client that npm packs; registries of other languages build theirs from the sources. */
const NPM_CLIENT = 'typescript';

/** Fields of `package.json` that only the repository needs. */
const PRIVATE_FIELDS = new Set(['scripts', 'devDependencies']);

/** Packs every client: the npm package of one, and the sources of the others. */
export async function* packClients(root: string, version: string): AsyncIterable<ReleaseFile> {
  yield await packNpmClient(root, version);
  for (const { name } of listClients(join(root, 'clients'))) {
    if (name !== NPM_CLIENT) yield await packSources(root, name, version);
  }
}

async function packNpmClient(root: string, version: string): Promise<ReleaseFile> {
  const folder = join(root, 'clients', NPM_CLIENT);
  const built = await buildPackage();
  const manifest: unknown = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const fields = Object.entries(Object(manifest)).filter(([name]) => !PRIVATE_FIELDS.has(name));
  const paths = ['LICENSE', 'README.md', ...built.map((file) => `dist/${file}`)];
  const files = await Promise.all(paths.map((path) => readEntry(folder, path, 'package')));
  const description = `${JSON.stringify({ ...Object.fromEntries(fields), version }, null, 2)}\n`;
  const entries = [
    { path: 'package/package.json', content: Buffer.from(description), mode: 0o644 },
    ...files,
  ];
  return { name: `latchkey-client-${version}.tgz`, content: await pack(root, entries) };
}

/** The files that git tracks. @throws Error outside of a clone */
async function packSources(root: string, name: string, version: string): Promise<ReleaseFile> {
  const folder = join(root, 'clients', name);
  const { stdout } = await run('git', ['ls-files', '-z', '.'], { cwd: folder });
  const paths = stdout.split('\0').filter((path) => path !== '');
  const base = `latchkey-client-${name}-${version}`;
  const entries = await Promise.all(paths.map((path) => readEntry(folder, path, base)));
  return { name: `${base}.tar.gz`, content: await pack(root, entries) };
}

async function readEntry(folder: string, path: string, base: string): Promise<TarEntry> {
  const file = join(folder, path);
  const isExecutable = ((await stat(file)).mode & 0o100) !== 0;
  const content = await readFile(file);
  return { path: `${base}/${path}`, content, mode: isExecutable ? 0o755 : 0o644 };
}

function pack(root: string, entries: readonly TarEntry[]): Promise<Buffer> {
  const sorted = entries.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return compressArchive(sorted, join(root, 'node_modules/.cache/latchkey-package'));
}
