/** Finds the newest versions of Debian's packages in the image, with apt, which verifies them by Debian's signatures. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { DEBIAN_NAMES } from '../package/deb/pack-deb.ts';
import {
  DEBIAN_PACKAGES,
  type PinnedPackage,
  type Pins,
  PINS_FILE,
  readPins,
} from '../package/image/debian-packages.ts';
import { ARCHITECTURES, type Architecture } from '../package/locked-packages.ts';
import { ReleaseError } from './release-error.ts';

const run = promisify(execFile);

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

const SOURCES = `
deb [signed-by=${KEYRING}] http://deb.debian.org/debian trixie main
deb [signed-by=${KEYRING}] http://deb.debian.org/debian-security trixie-security main
`;

/** `'http://deb.debian.org/debian/pool/…/dash_0.5.12-12_amd64.deb' dash_0.5.12-12_amd64.deb 98504 SHA256:a8902c…` */
const LINE =
  /^'http:\/\/deb\.debian\.org\/(?<path>[^']+)' (?<name>[^_]+)_(?<version>[^_]+)_\S+ \d+ SHA256:(?<sha256>\w+)$/gm;

/** @throws ReleaseError where Debian's packages cannot be verified */
export async function findNewestPins(now = new Date()): Promise<Pins> {
  if (!existsSync(KEYRING)) {
    throw new ReleaseError(
      'Debian signs its packages: apt-get install apt debian-archive-keyring.',
    );
  }
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-apt-'));
  try {
    const env = await configureApt(folder);
    await run('apt-get', ['update', '--error-on=any'], { env });
    const snapshot = now.toISOString().replaceAll(/[-:]|\.\d+/g, '');
    return { snapshot, x64: await list('x64', env), arm64: await list('arm64', env) };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** An apt of its own, which needs no root and knows only these archives. */
async function configureApt(folder: string): Promise<NodeJS.ProcessEnv> {
  for (const name of [
    'lists/partial',
    'cache/archives/partial',
    'etc/apt.conf.d',
    'etc/preferences.d',
  ]) {
    await mkdir(join(folder, name), { recursive: true });
  }
  const architectures = ARCHITECTURES.map((arch) => `"${DEBIAN_NAMES[arch]}";`).join(' ');
  const settings = `
Dir::State "${folder}";
Dir::State::status "/dev/null";
Dir::Cache "${folder}/cache";
Dir::Etc "${folder}/etc";
APT::Architectures { ${architectures} };
Acquire::Languages "none";
`;
  await writeFile(join(folder, 'etc/sources.list'), SOURCES);
  await writeFile(join(folder, 'apt.conf'), settings);
  return { ...process.env, APT_CONFIG: join(folder, 'apt.conf'), LC_ALL: 'C.UTF-8' };
}

async function list(arch: Architecture, env: NodeJS.ProcessEnv): Promise<PinnedPackage[]> {
  const names = DEBIAN_PACKAGES.map((name) => `${name}:${DEBIAN_NAMES[arch]}`);
  const { stdout } = await run('apt-get', ['download', '--print-uris', ...names], { env });
  const pins = parsePins(stdout);
  if (pins.length === names.length) return pins;
  throw new ReleaseError(`apt does not know all of ${names.join(', ')}: ${stdout}`);
}

/** @param output of `apt-get download --print-uris` */
export function parsePins(output: string): PinnedPackage[] {
  const pins = Array.from(output.matchAll(LINE), ({ groups = {} }) => ({
    name: groups['name'] ?? '',
    version: decodeURIComponent(groups['version'] ?? ''),
    path: decodeURIComponent(groups['path'] ?? ''),
    sha256: groups['sha256'] ?? '',
  }));
  return pins.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * Writes the pins, unless they are the present ones.
 * @param root the repository
 * @returns a line for each changed package
 */
export async function writePins(root: string, pins: Pins): Promise<string[]> {
  const present = await readPins(root).catch(() => null);
  const changed = ARCHITECTURES.flatMap((arch) =>
    pins[arch].filter(({ sha256 }) => !present?.[arch].some((each) => each.sha256 === sha256)),
  );
  if (changed.length === 0) return [`${PINS_FILE} is up to date.`];
  await writeFile(join(root, PINS_FILE), `${JSON.stringify(pins, null, 2)}\n`);
  return changed.map(({ path }) => `${PINS_FILE}: ${path}`);
}
