/** The documents that Debian expects in every package (Debian Policy, chapter 12). */
import { gzipSync } from 'node:zlib';

import type { TarEntry } from '../../../agent/src/system/tar.ts';
import { MODIFIED_AT } from '../compress.ts';
import { toDebianVersion } from './pack-deb.ts';

interface Documents {
  readonly name: string;
  readonly version: string;
  readonly maintainer: string;
  /** The license of the project. */
  readonly license: string;
  /** The licenses of everything else in the package. */
  readonly thirdPartyLicenses: string;
  /** Tags of lintian that are accepted, each with its reason as a comment. */
  readonly overrides: string;
}

/** Returns the license, the changelog, and the overrides of lintian. */
export function listDocuments(source: Documents): TarEntry[] {
  const { name, license, thirdPartyLicenses, overrides } = source;
  const folder = `usr/share/doc/${name}`;
  const copyright = `${license.trim()}\n\nOther software in this package has licenses of its own: see third-party-licenses.txt.gz.\n`;
  return [
    { path: `${folder}/copyright`, content: Buffer.from(copyright), mode: 0o644 },
    { path: `${folder}/changelog.gz`, content: compress(renderChangelog(source)), mode: 0o644 },
    {
      path: `${folder}/third-party-licenses.txt.gz`,
      content: compress(thirdPartyLicenses),
      mode: 0o644,
    },
    { path: `usr/share/lintian/overrides/${name}`, content: Buffer.from(overrides), mode: 0o644 },
  ];
}

function renderChangelog({ name, version, maintainer }: Documents): string {
  const date = MODIFIED_AT.toUTCString().replace('GMT', '+0000');
  return [
    `${name} (${toDebianVersion(version)}) stable; urgency=medium`,
    '',
    '  * The changes are in CHANGELOG.md of the sources.',
    '',
    ` -- ${maintainer}  ${date}`,
    '',
  ].join('\n');
}

function compress(text: string): Buffer {
  return gzipSync(text, { level: 9 });
}
