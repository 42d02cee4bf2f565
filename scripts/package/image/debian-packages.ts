/** Debian's packages in the image: `npm run release:debian` writes their versions and checksums to `debian-packages.json`. */
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { type Static, Type } from 'typebox';
import { Parse } from 'typebox/value';

import { ReleaseError } from '../../release/release-error.ts';
import { type Architecture } from '../locked-packages.ts';

/** C and C++ libraries, `sh`, what names accounts of any id for PostgreSQL, and the licenses of all of them. */
export const DEBIAN_PACKAGES = [
  'base-files',
  'dash',
  'gcc-14-base',
  'libc6',
  'libgcc-s1',
  'libnss-wrapper',
  'libstdc++6',
] as const;

const PinnedPackage = Type.Object({
  name: Type.String(),
  version: Type.String(),
  /** In an archive of Debian, such as `debian/pool/main/d/dash/dash_0.5.12-12_amd64.deb`. */
  path: Type.String(),
  sha256: Type.String(),
});
export type PinnedPackage = Static<typeof PinnedPackage>;

const Pins = Type.Object({
  /** A time at which the archive had all of them; snapshot.debian.org keeps it. */
  snapshot: Type.String(),
  x64: Type.Array(PinnedPackage),
  arm64: Type.Array(PinnedPackage),
});
export type Pins = Static<typeof Pins>;

export const PINS_FILE = 'scripts/package/image/debian-packages.json';

/** @param root the repository */
export async function readPins(root: string): Promise<Pins> {
  return Parse(Pins, JSON.parse(await readFile(join(root, PINS_FILE), 'utf8')));
}

/**
 * Returns where a package is: on Debian's mirrors until a newer version replaces it, and later in the archive of them. Without
 * TLS, as for apt: its checksum is pinned, and a proxy may keep a copy.
 */
export function listUrls({ path }: PinnedPackage, snapshot: string): string[] {
  const [archive = '', ...rest] = path.split('/');
  return [
    `http://deb.debian.org/${path}`,
    `http://snapshot.debian.org/archive/${archive}/${snapshot}/${rest.join('/')}`,
  ];
}

type Download = (url: string) => Promise<Buffer>;

/**
 * Returns the pinned packages for a processor; each is downloaded once.
 * @param root the repository
 * @throws ReleaseError when one cannot be downloaded, or its checksum differs
 */
export async function loadDebianPackages(
  root: string,
  arch: Architecture,
  download: Download = downloadFile,
): Promise<Buffer[]> {
  const pins = await readPins(root);
  const cache = join(root, 'node_modules/.cache/latchkey-package');
  await mkdir(cache, { recursive: true });
  return Promise.all(
    pins[arch].map((each) => loadPackage(each, cache, listUrls(each, pins.snapshot), download)),
  );
}

async function loadPackage(
  pinned: PinnedPackage,
  cache: string,
  urls: readonly string[],
  download: Download,
): Promise<Buffer> {
  const path = join(cache, `${pinned.sha256}.deb`);
  const cached = await readFile(path).catch(() => null);
  if (cached !== null) return cached;
  const content = await downloadFirst(urls, download);
  if (createHash('sha256').update(content).digest('hex') !== pinned.sha256) {
    throw new ReleaseError(`${pinned.path} does not match its checksum in ${PINS_FILE}.`);
  }
  // Renamed when complete, so that the final name never has a partial file.
  await writeFile(`${path}.${process.pid}`, content);
  await rename(`${path}.${process.pid}`, path);
  return content;
}

async function downloadFirst(urls: readonly string[], download: Download): Promise<Buffer> {
  const failures: string[] = [];
  for (const url of urls) {
    try {
      return await download(url);
    } catch (error) {
      failures.push(`${url}: ${String(error)}`);
    }
  }
  throw new ReleaseError(
    `Could not download a package of Debian for the container image: check the network.\n${failures.join('\n')}`,
  );
}

async function downloadFile(url: string): Promise<Buffer> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`HTTP status ${response.status}`);
  return Buffer.from(await response.arrayBuffer());
}
