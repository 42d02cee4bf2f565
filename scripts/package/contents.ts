import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { TarEntry } from '../../agent/src/system/tar.ts';
import { bundleProgram } from './bundle.ts';
import { type Architecture, findPackedNode } from './locked-packages.ts';
import { licenseOfNode, readLicense, renderLicenses } from './licenses.ts';
import { readPackedNode } from './node-binary.ts';

/** The contents of the agent's package. */
export interface AgentPackage {
  readonly version: string;
  readonly nodeVersion: string;
  /** The names of the bundled npm packages. */
  readonly packages: readonly string[];
  /** Sorted; all are in one folder with the name and version. */
  readonly entries: readonly TarEntry[];
}

/**
 * Collects the agent, its Node.js, and the files for administrators.
 * @param root the repository
 * @param arch the target processor
 */
export async function gatherAgent(root: string, arch: Architecture = 'x64'): Promise<AgentPackage> {
  const packages = join(root, 'node_modules');
  const files = join(root, 'scripts', 'package', 'files');
  const node = await readPackedNode(await findPackedNode(root, arch));
  const bundle = await bundleProgram(root, join(root, 'agent', 'src', 'main.ts'));
  const licenses = renderLicenses('The Latchkey agent', [
    ...(await Promise.all(bundle.packages.map((name) => readLicense(join(packages, name))))),
    licenseOfNode(node),
  ]);
  const { version } = JSON.parse(await readFile(join(root, 'agent', 'package.json'), 'utf8'));
  const installer = join(root, 'agent', 'install.sh');
  const contents = new Map<string, Buffer>([
    ['bin/latchkey-agent', await readFile(join(files, 'latchkey-agent.sh'))],
    ['lib/node', node.program],
    ...[...bundle.files].map(([path, code]) => [`lib/${path}`, code] as const),
    ['agent.example.yaml', await readFile(join(root, 'agent', 'agent.example.yaml'))],
    ['README.txt', await readFile(join(files, 'README.txt'))],
    ['LICENSE', await readFile(join(root, 'LICENSE'))],
    ['THIRD-PARTY-LICENSES.txt', Buffer.from(licenses)],
  ]);
  if (existsSync(installer)) contents.set('install.sh', await readFile(installer));
  return {
    version,
    nodeVersion: node.version,
    packages: bundle.packages,
    entries: toEntries(`${version}-linux-${arch}`, contents),
  };
}

const EXECUTABLE = new Set(['bin/latchkey-agent', 'lib/node', 'install.sh']);

function toEntries(name: string, contents: ReadonlyMap<string, Buffer>): TarEntry[] {
  const folder = `latchkey-agent-${name}`;
  return [...contents]
    .map(([path, content]) => ({ path, content, mode: EXECUTABLE.has(path) ? 0o755 : 0o644 }))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .map((entry) => ({ ...entry, path: `${folder}/${entry.path}` }));
}
