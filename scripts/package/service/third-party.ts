import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { licenseOfNode, type LicenseText, readLicense, renderLicenses } from '../licenses.ts';
import { findLockedPackage } from '../locked-packages.ts';
import { CONSOLE_PACKAGES } from './console-packages.ts';
import type { ServiceTree } from './service-tree.ts';

const POSTGRESQL = 'scripts/package/files/service/postgresql-licenses.txt';

/**
 * Returns the licenses of everything in a tree of the service that is not its own: packages, Node.js and PostgreSQL.
 * @param root the repository
 */
export async function renderThirdParty(
  root: string,
  tree: Pick<ServiceTree, 'node' | 'packages'>,
): Promise<string> {
  const packages = [...tree.packages, ...CONSOLE_PACKAGES.map((name) => `node_modules/${name}`)];
  const licenses: LicenseText[] = await Promise.all(
    packages.map(async (path) => readLicense(await findLockedPackage(root, path))),
  );
  const postgres = { title: 'PostgreSQL', text: await readFile(join(root, POSTGRESQL), 'utf8') };
  return renderLicenses('Latchkey', [...licenses, licenseOfNode(tree.node), postgres]);
}
