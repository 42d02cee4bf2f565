import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { PackedNode } from './node-binary.ts';

/**
 * Returns the full licenses of all third-party code in a package.
 * @param packages the folder `node_modules`
 * @param names the npm packages
 * @throws Error for a package without a license file
 */
export async function listLicenses(
  packages: string,
  names: readonly string[],
  node: PackedNode,
): Promise<string> {
  const texts = await Promise.all(names.map((name) => readLicense(join(packages, name))));
  const own = { title: `Node.js ${node.version}`, text: node.license };
  return [
    'The Latchkey agent comes with the following software, each under its own license.\n',
    ...[...texts, own].map(({ title, text }) => `${'='.repeat(80)}\n${title}\n\n${text.trim()}\n`),
  ].join('\n');
}

async function readLicense(folder: string): Promise<{ title: string; text: string }> {
  const description = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const { name, version, license }: Record<string, string> = description;
  const file = (await readdir(folder)).find((each) => /^licen[cs]e(?:\.|$)/i.test(each));
  if (file === undefined) throw new Error(`${name} has no license file.`);
  const text = await readFile(join(folder, file), 'utf8');
  return { title: `${name} ${version} (${license})`, text };
}
