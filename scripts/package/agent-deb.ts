/** The Debian package of the agent. Its program replaces what `latchkey-agent install` would copy; the rest it sets up as before. */
import { join } from 'node:path';

import { buildProgram } from '../../agent/src/cli/program.ts';
import { renderServiceUnit, UNIT_NOTE } from '../../agent/src/install/files/units.ts';
import { paths } from '../../agent/src/install/paths.ts';
import type { TarEntry } from '../../agent/src/system/tar.ts';
import type { ReleaseFile } from '../release/release-file.ts';
import { gatherAgent } from './contents.ts';
import { renderManual } from './deb/manual.ts';
import { packProduct } from './deb/pack-product.ts';
import type { Architecture } from './locked-packages.ts';

const DEPENDS =
  'init-system-helpers (>= 1.54), libc6 (>= 2.28), libgcc-s1, libstdc++6 (>= 8), openssl, systemd (>= 247)';

const DESCRIPTION = `streams the metrics of this machine over TLS
The Latchkey agent collects the metrics of processors, memory, disks, network,
GPUs and processes once a second, serves a live page, and offers them to
Prometheus.
.
"latchkey-agent install" sets it up with a certificate, on a port of its own or
behind nginx.`;

const FILES = {
  '/etc/latchkey-agent/agent.yaml': 'The configuration, which "latchkey-agent install" writes.',
  '/usr/share/doc/latchkey-agent/agent.example.yaml': 'Every setting of the configuration.',
};

/**
 * Packs the agent for Debian. The same sources produce the same bytes.
 * @param root the repository
 * @param version the version of the release
 * @param arch the target processor
 */
export async function packAgentDeb(
  root: string,
  version: string,
  arch: Architecture,
): Promise<ReleaseFile> {
  const { entries } = await gatherAgent(root, arch);
  const files = new Map(entries.map((entry) => [entry.path.replace(/^[^/]+\//, ''), entry]));
  const example = contentOf(files, 'agent.example.yaml');
  return packProduct(root, {
    name: 'latchkey-agent',
    version,
    arch,
    depends: DEPENDS,
    description: DESCRIPTION,
    folder: join(root, 'scripts/package/files/agent'),
    entries: [
      ...listProgram(files),
      toEntry('usr/share/doc/latchkey-agent/agent.example.yaml', example),
      renderManual(buildProgram(), version, FILES),
    ],
    license: String(contentOf(files, 'LICENSE')),
    thirdPartyLicenses: String(contentOf(files, 'THIRD-PARTY-LICENSES.txt')),
  });
}

type Files = ReadonlyMap<string, TarEntry>;

/** The program and its command, where the installer would put them, and a unit that nothing enables. */
function listProgram(files: Files): TarEntry[] {
  const program = [...files].filter(([path]) => /^(?:bin|lib)\//.test(path));
  const unit = renderServiceUnit(null).replace(`${UNIT_NOTE}\n`, '');
  return [
    ...program.map(([path, entry]) => ({ ...entry, path: `${paths.program}/${path}`.slice(1) })),
    {
      path: paths.command.slice(1),
      content: Buffer.alloc(0),
      mode: 0o777,
      linkTo: `${paths.program}/bin/latchkey-agent`,
    },
    toEntry('usr/lib/systemd/system/latchkey-agent.service', unit),
  ];
}

function contentOf(files: Files, path: string): Buffer {
  const entry = files.get(path);
  if (entry === undefined) throw new Error(`The package of the agent has no ${path}.`);
  return entry.content;
}

function toEntry(path: string, text: string | Buffer): TarEntry {
  return { path, content: Buffer.from(text), mode: 0o644 };
}
