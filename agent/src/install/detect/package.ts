import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * The folder of the package that a program was started from.
 * @param node the path of the Node.js that runs, which lies in the package's `lib`
 * @returns null when it is another Node.js, running the sources
 */
export function findPackage(node: string): string | null {
  const folder = dirname(dirname(node));
  const isPackage = existsSync(join(folder, 'bin/latchkey-agent'));
  return isPackage ? folder : null;
}
