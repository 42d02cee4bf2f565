/** The root directory of the container image. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { TarEntry } from '../../../agent/src/system/tar.ts';
import type { Architecture } from '../locked-packages.ts';
import { collectServiceTree } from '../service/service-tree.ts';
import { renderThirdParty } from '../service/third-party.ts';
import { readDebianFiles } from './debian-files.ts';
import { loadDebianPackages } from './debian-packages.ts';

/** The account of the service; deploy/Containerfile has it, too. */
const ACCOUNT_ID = 10_001;

/** PostgreSQL refuses a user id without a name; the service names other ids with libnss-wrapper. */
const PASSWD = `root:x:0:0:root:/root:/usr/sbin/nologin
latchkey:x:${ACCOUNT_ID}:${ACCOUNT_ID}::/var/lib/latchkey:/usr/sbin/nologin
`;
const GROUP = `root:x:0:\nlatchkey:x:${ACCOUNT_ID}:\n`;

/**
 * Collects the service, its programs, Debian's libraries and the account. The same sources produce the same entries.
 * @param root the repository
 * @param version the version of the release
 * @param arch the target processor
 * @returns entries, sorted by path
 */
export async function collectImageTree(
  root: string,
  version: string,
  arch: Architecture,
): Promise<TarEntry[]> {
  const packages = await loadDebianPackages(root, arch);
  const system = await Promise.all(packages.map(readDebianFiles));
  const tree = await collectServiceTree(root, version, arch);
  const read = (name: string) => readFile(join(root, 'deploy/image', name), 'utf8');
  const all = [
    ...system.flat(),
    ...tree.entries.map((entry) => ({ ...entry, path: `opt/latchkey/${entry.path}` })),
    toEntry('opt/latchkey/healthcheck.mjs', await read('healthcheck.mjs')),
    toEntry('usr/share/doc/latchkey/third-party-licenses', await renderThirdParty(root, tree)),
    toEntry('usr/local/bin/latchkey', await read('latchkey'), 0o755),
    toEntry('etc/passwd', PASSWD),
    toEntry('etc/group', GROUP),
    toEntry('tmp/', '', 0o1777),
    // Any account may enter it, because it is the working directory. The group 0 may write: OpenShift runs accounts of any id in it.
    { ...toEntry('var/lib/latchkey/', '', 0o775), owner: ACCOUNT_ID, group: 0 },
  ];
  return all.sort((a, b) => (a.path < b.path ? -1 : 1));
}

function toEntry(path: string, text: string, mode = 0o644): TarEntry {
  return { path, content: Buffer.from(text), mode };
}
