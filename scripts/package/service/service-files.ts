/** The files of the service in a package, which has the layout of the repository: modules find each other and their files by it. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { TarEntry } from '../../../agent/src/system/tar.ts';
import { bundleConsole, encodeBundle } from '../../../console/build/bundle.ts';
import { readLicense, renderLicenses } from '../licenses.ts';
import { CONSOLE_PACKAGES } from './console-packages.ts';
import { createManifest, createShrinkwrap, type ServiceManifest } from './manifest.ts';
import { stripTypes } from './strip-types.ts';

/** Plain JavaScript that finds Node.js 24. */
const STARTER = [
  'server/bin/latchkey.mjs',
  'scripts/lib/child.mjs',
  'scripts/lib/compile-cache.mjs',
  'scripts/lib/dependencies.mjs',
  'scripts/lib/follow-parent.mjs',
  'scripts/lib/install-lock.mjs',
  'scripts/lib/node24.mjs',
  'scripts/lib/standard-error.mjs',
];

const COPIED = [
  '.env.example',
  'CHANGELOG.md',
  'LICENSE',
  'catalog.example.yaml',
  'openapi.json',
  'deploy/grafana/latchkey.json',
  'deploy/prometheus/alertmanager.yml',
  'deploy/prometheus/alerts.yml',
  'deploy/prometheus/prometheus.yml',
];

const TEST_FILE = /\.(?:test|fixture)\.ts$|\.golden$/;

/** The packed service, without the packages that it imports. */
export interface ServiceFiles {
  readonly manifest: ServiceManifest;
  /** Sorted by path. */
  readonly entries: readonly TarEntry[];
}

/**
 * Collects the service as JavaScript, with the console ready-made.
 * @param root the repository
 * @param version the version of the release
 */
export async function collectService(root: string, version: string): Promise<ServiceFiles> {
  const manifest = await createManifest(root, version);
  const texts = new Map<string, string | Buffer>([
    ['package.json', toJson(manifest)],
    ['npm-shrinkwrap.json', toJson(await createShrinkwrap(root, manifest))],
    ['server/package.json', toJson(describeServer(version))],
    ['console/dist/console.json', encodeBundle(await bundleConsole())],
    ['THIRD-PARTY-LICENSES.txt', await renderConsoleLicenses(root)],
    ['README.md', await readFile(join(root, 'scripts/package/files/service-README.md'))],
    ...(await readSources(root, 'server/src')),
    ...(await readSources(root, 'contract/src')),
  ]);
  for (const path of [...STARTER, ...COPIED]) texts.set(path, await readFile(join(root, path)));
  const entries = [...texts].map(([path, text]) => ({
    path,
    content: Buffer.from(text),
    mode: path === manifest.bin['latchkey'] ? 0o755 : 0o644,
  }));
  return { manifest, entries: entries.sort((a, b) => (a.path < b.path ? -1 : 1)) };
}

async function renderConsoleLicenses(root: string): Promise<string> {
  const folders = CONSOLE_PACKAGES.map((name) => join(root, 'node_modules', name));
  return renderLicenses('The console of Latchkey', await Promise.all(folders.map(readLicense)));
}

/** The package around the modules of the service: `#server/…` and the version come from it. */
function describeServer(version: string): object {
  const imports = { '#server/*': './src/*' };
  return { name: '@latchkey/server', version, private: true, type: 'module', imports };
}

async function readSources(root: string, folder: string): Promise<[string, string | Buffer][]> {
  const all = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  const files = all.filter((each) => each.isFile() && !TEST_FILE.test(each.name));
  return Promise.all(
    files.map(async ({ parentPath, name }): Promise<[string, string | Buffer]> => {
      const path = join(parentPath, name).slice(root.length).replace(/^\//, '');
      const content = await readFile(join(root, path));
      if (!path.endsWith('.ts')) return [path, content];
      return [path.replace(/\.ts$/, '.js'), stripTypes(path, String(content))];
    }),
  );
}

function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
