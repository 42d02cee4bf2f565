import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { TarEntry } from '../../../agent/src/system/tar.ts';
import type { ReleaseFile } from '../../release/release-file.ts';
import type { Architecture } from '../locked-packages.ts';
import { MAINTAINER } from '../maintainer.ts';
import { listDocuments } from './documents.ts';
import { DEBIAN_NAMES, packDeb, SCRIPT_NAMES, toDebianVersion } from './pack-deb.ts';

/** What differs between the Debian packages of this project. */
interface DebianProduct {
  readonly name: string;
  readonly version: string;
  readonly arch: Architecture;
  readonly depends: string;
  /** The first line is the summary. */
  readonly description: string;
  /** The folder with the scripts of dpkg, the account and the overrides of lintian. */
  readonly folder: string;
  /** What the scripts contain as @NAME@; one value may contain another. */
  readonly variables?: Readonly<Record<string, string>>;
  /** The program. */
  readonly entries: readonly TarEntry[];
  /** The license of the project. */
  readonly license: string;
  /** The licenses of everything else in the package. */
  readonly thirdPartyLicenses: string;
}

/**
 * Packs a product for Debian. The same sources produce the same bytes.
 * @param root the repository
 */
export async function packProduct(root: string, product: DebianProduct): Promise<ReleaseFile> {
  const { name, version, folder } = product;
  const read = (file: string) => readFile(join(folder, file), 'utf8');
  const account = Buffer.from(await read('sysusers.conf'));
  const overrides = await read('lintian-overrides');
  const source = {
    fields: {
      Package: name,
      Version: toDebianVersion(version),
      Architecture: DEBIAN_NAMES[product.arch],
      Maintainer: MAINTAINER,
      Section: 'net',
      Priority: 'optional',
      Depends: product.depends,
      Description: product.description,
    },
    scripts: await renderScripts(folder, Object.entries(product.variables ?? {})),
    entries: [
      ...product.entries,
      { path: `usr/lib/sysusers.d/${name}.conf`, content: account, mode: 0o644 },
      ...listDocuments({ ...product, maintainer: MAINTAINER, overrides }),
    ],
  };
  const content = await packDeb(source, join(root, 'node_modules/.cache/latchkey-package'));
  const file = `${name}_${toDebianVersion(version)}_${DEBIAN_NAMES[product.arch]}.deb`;
  return { name: file, content };
}

/** Reads the scripts of dpkg in a folder, and replaces @NAME@ by the value of a variable. */
export async function renderScripts(
  folder: string,
  variables: readonly (readonly [name: string, value: string])[],
): Promise<Record<string, string>> {
  const names = SCRIPT_NAMES.filter((name) => existsSync(join(folder, name)));
  const texts = names.map(async (name) => {
    const text = await readFile(join(folder, name), 'utf8');
    return [
      name,
      variables.reduce((all, [each, value]) => all.replaceAll(`@${each}@`, () => value), text),
    ];
  });
  return Object.fromEntries(await Promise.all(texts));
}
