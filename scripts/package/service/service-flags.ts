import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Returns the options of Node.js with which `npm start` runs the service.
 * @throws Error when the starter does not list them
 */
export async function readServiceFlags(root: string): Promise<string[]> {
  const starter = await readFile(join(root, 'scripts/lib/node24.mjs'), 'utf8');
  const [, list = ''] = /const SERVICE_FLAGS = \[(.*?)\]/s.exec(starter) ?? [];
  const flags = Array.from(
    list.matchAll(/'(?<flag>[^']+)'/g),
    ({ groups }) => groups?.['flag'] ?? '',
  );
  if (flags.length === 0) throw new Error('scripts/lib/node24.mjs lists no SERVICE_FLAGS.');
  return flags;
}
