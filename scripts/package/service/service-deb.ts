/** The Debian package of the service. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { TarEntry } from '../../../agent/src/system/tar.ts';
import type { ReleaseFile } from '../../release/release-file.ts';
import { listDocuments } from '../deb/documents.ts';
import { DEBIAN_NAMES, packDeb, toDebianVersion } from '../deb/pack-deb.ts';
import { licenseOfNode, type LicenseText, readLicense, renderLicenses } from '../licenses.ts';
import { type Architecture, findLockedPackage } from '../locked-packages.ts';
import { MAINTAINER } from '../maintainer.ts';
import { CONSOLE_PACKAGES } from './console-packages.ts';
import { readServiceFlags } from './service-flags.ts';
import { collectServiceTree, type ServiceTree } from './service-tree.ts';

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

/**
 * Packs the service for Debian. The same sources produce the same bytes.
 * @param root the repository
 * @param version the version of the release
 * @param arch the target processor
 */
export async function packServiceDeb(
  root: string,
  version: string,
  arch: Architecture,
): Promise<ReleaseFile> {
  const tree = await collectServiceTree(root, version, arch);
  const read = (name: string) =>
    readFile(join(root, 'scripts/package/files/service', name), 'utf8');
  const source = {
    fields: {
      Package: 'latchkey',
      Version: toDebianVersion(version),
      Architecture: DEBIAN_NAMES[arch],
      Maintainer: MAINTAINER,
      Section: 'net',
      Priority: 'optional',
      Depends: DEPENDS,
      Description: DESCRIPTION,
    },
    scripts: {
      postinst: await read('postinst'),
      prerm: await read('prerm'),
      postrm: await read('postrm'),
    },
    entries: [
      ...(await listFiles(root, read)),
      ...listTree(tree),
      ...(await listTexts(root, version, tree, read)),
    ],
  };
  const content = await packDeb(source, join(root, 'node_modules/.cache/latchkey-package'));
  return { name: `latchkey_${toDebianVersion(version)}_${DEBIAN_NAMES[arch]}.deb`, content };
}

type Read = (name: string) => Promise<string>;

function listTree({ entries }: ServiceTree): TarEntry[] {
  return entries
    .filter(
      ({ path }) =>
        !/^(?:LICENSE|THIRD-PARTY-LICENSES\.txt|CHANGELOG\.md|\.env\.example)$/.test(path),
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
    toEntry('usr/lib/systemd/system/latchkey.service', await renderUnit(root)),
    toEntry('usr/lib/sysusers.d/latchkey.conf', await read('sysusers.conf')),
  ];
}

/** The unit of the documents, with the paths and the starter of the package. */
async function renderUnit(root: string): Promise<string> {
  const text = await readFile(join(root, 'deploy/latchkey.service'), 'utf8');
  return text
    .replace(/^(?:#.*\n)+(?=\[Unit\])/, '')
    .replace(/^Documentation=.*$/m, 'Documentation=file:///usr/share/doc/latchkey/settings.env')
    .replace(/^(?:Environment|EnvironmentFile)=.*\n/gm, '')
    .replace(/^#.*\n(?=ExecStart=)/m, '')
    .replace(/^ExecStart=.*$/m, 'ExecStart=/usr/lib/latchkey/bin/latchkey serve');
}

async function listTexts(
  root: string,
  version: string,
  tree: ServiceTree,
  read: Read,
): Promise<TarEntry[]> {
  const packages = [...tree.packages, ...CONSOLE_PACKAGES.map((name) => `node_modules/${name}`)];
  const licenses: LicenseText[] = await Promise.all(
    packages.map(async (path) => readLicense(await findLockedPackage(root, path))),
  );
  const postgres = { title: 'PostgreSQL', text: await read('postgresql-licenses.txt') };
  return [
    ...listDocuments({
      name: 'latchkey',
      version,
      maintainer: MAINTAINER,
      license: await readFile(join(root, 'LICENSE'), 'utf8'),
      thirdPartyLicenses: renderLicenses('Latchkey', [
        ...licenses,
        licenseOfNode(tree.node),
        postgres,
      ]),
      overrides: await read('lintian-overrides'),
    }),
    toEntry('usr/share/doc/latchkey/settings.env', await readFile(join(root, '.env.example'))),
    toEntry('usr/share/doc/latchkey/nginx.conf', await readFile(join(root, 'deploy/nginx.conf'))),
  ];
}

function toEntry(path: string, text: string | Buffer, mode = 0o644): TarEntry {
  return { path, content: Buffer.from(text), mode };
}
