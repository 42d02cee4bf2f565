import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The license of a part. */
export interface LicenseText {
  readonly title: string;
  readonly text: string;
}

/**
 * Returns the full licenses of all third-party code in a package, as one document.
 * @param product the name of the program
 */
export function renderLicenses(product: string, licenses: readonly LicenseText[]): string {
  return [
    `${product} comes with the following software, each under its own license.\n`,
    ...licenses.map(({ title, text }) => `${'='.repeat(80)}\n${title}\n\n${text.trim()}\n`),
  ].join('\n');
}

/**
 * Reads the license of an npm package. A few packages name a license without containing its text.
 * @param folder the package
 * @throws Error when it names none
 */
export async function readLicense(folder: string): Promise<LicenseText> {
  const description = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  const { name, version, license }: Record<string, string> = description;
  if (license === undefined) throw new Error(`${name} has no license.`);
  const file = (await readdir(folder)).find((each) => /^licen[cs]e(?:\.|$)/i.test(each));
  const text =
    file === undefined
      ? `The package contains no text of its license, ${license}.`
      : await readFile(join(folder, file), 'utf8');
  return { title: `${name} ${version} (${license})`, text };
}

/** Returns the license of the Node.js in a package. */
export function licenseOfNode(node: {
  readonly version: string;
  readonly license: string;
}): LicenseText {
  return { title: `Node.js ${node.version}`, text: node.license };
}
