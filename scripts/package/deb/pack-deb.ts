import { createHash } from 'node:crypto';

import type { TarEntry } from '../../../agent/src/system/tar.ts';
import { compressArchive, MODIFIED_AT } from '../compress.ts';
import { withDirectories } from '../directories.ts';
import type { Architecture } from '../locked-packages.ts';
import { packAr } from './ar.ts';

/** Debian's names of processors. */
export const DEBIAN_NAMES: Readonly<Record<Architecture, string>> = {
  x64: 'amd64',
  arm64: 'arm64',
};

/** The scripts that dpkg runs (deb-postinst(5) and others). */
export const SCRIPT_NAMES = ['preinst', 'postinst', 'prerm', 'postrm'] as const;

/** A Debian package. */
export interface DebianPackage {
  /** Fields of `control`, without `Installed-Size`; a description has lines. */
  readonly fields: Readonly<Record<string, string>>;
  readonly scripts: Readonly<Partial<Record<(typeof SCRIPT_NAMES)[number], string>>>;
  /** Paths without the leading slash; files in `etc/` are configuration files. */
  readonly entries: readonly TarEntry[];
}

/**
 * Packs a Debian package, with gzip, which every dpkg reads. The same contents produce the same bytes, on every system.
 * @param cache where large compressed files are cached
 */
export async function packDeb(source: DebianPackage, cache: string): Promise<Buffer> {
  const entries = withDirectories(source.entries);
  const data = await compressArchive(entries, cache);
  const control = await compressArchive(listControl(source), cache);
  return packAr(
    [
      { name: 'debian-binary', content: Buffer.from('2.0\n') },
      { name: 'control.tar.gz', content: control },
      { name: 'data.tar.gz', content: data },
    ],
    MODIFIED_AT,
  );
}

function listControl({ fields, scripts, entries }: DebianPackage): TarEntry[] {
  const files = entries.filter(({ linkTo }) => linkTo === undefined);
  const sums = files.map(({ path, content }) => `${hash('md5', content)}  ${path}\n`);
  const conffiles = files.filter(({ path }) => path.startsWith('etc/'));
  const texts: [string, string][] = [
    ['control', renderControl({ ...fields, 'Installed-Size': countKib(entries) })],
    ['md5sums', sums.join('')],
    ['conffiles', conffiles.map(({ path }) => `/${path}\n`).join('')],
  ];
  const scriptEntries = SCRIPT_NAMES.flatMap((name) => {
    const text = scripts[name];
    return text === undefined ? [] : [toEntry(name, text, 0o755)];
  });
  const textEntries = texts.filter(([, text]) => text !== '');
  return [
    { path: './', mode: 0o755, content: Buffer.alloc(0) },
    ...textEntries.map(([name, text]) => toEntry(name, text, 0o644)),
    ...scriptEntries,
  ];
}

function toEntry(name: string, text: string, mode: number): TarEntry {
  return { path: `./${name}`, content: Buffer.from(text), mode };
}

function renderControl(fields: Readonly<Record<string, string>>): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}: ${value.trim().replaceAll('\n', '\n ')}\n`)
    .join('');
}

/** deb-control(5): each file counts in whole kibibytes, anything else as one. */
function countKib(entries: readonly TarEntry[]): string {
  return String(
    entries.reduce((sum, { content }) => sum + Math.max(1, Math.ceil(content.length / 1024)), 0),
  );
}

function hash(algorithm: string, content: Buffer): string {
  return createHash(algorithm).update(content).digest('hex');
}

/** Debian's form of a version: a pre-release sorts before the release. */
export function toDebianVersion(version: string): string {
  return version.replace('-', '~');
}
