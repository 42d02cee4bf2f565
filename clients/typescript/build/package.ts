import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { bundleModules } from './bundle.ts';
import { createDeclarations } from './declarations.ts';

/** `dist/` of this package. */
const DIST = fileURLToPath(new URL('../dist/', import.meta.url));

/** Writes the modules and declarations anew, and returns their names. @throws Error when a source has an error */
export async function buildPackage(dist = DIST): Promise<string[]> {
  const [modules, declarations] = await Promise.all([bundleModules(), createDeclarations()]);
  const files = [...modules.map(({ file, code }) => ({ file, text: code })), ...declarations];
  await rm(dist, { recursive: true, force: true });
  for (const { file, text } of files) {
    await mkdir(dirname(join(dist, file)), { recursive: true });
    await writeFile(join(dist, file), text);
  }
  return files.map(({ file }) => file).sort();
}
