/** Lets programs in another folder import this package without building it. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import manifest from '../package.json' with { type: 'json' };

/** Installs a package whose entries load the sources of this one. */
export async function linkSources(directory: string): Promise<void> {
  const entries = Object.entries(manifest.exports).map(([name, { default: file }]) => {
    const source = file.replace('./dist/', '../src/').replace(/\.js$/, '.ts');
    return [name, `export * from '${new URL(source, import.meta.url).href}';\n`];
  });
  await installModule(directory, manifest.name, Object.fromEntries(entries));
}

/** Installs a package. @param entries the text of each */
export async function installModule(
  directory: string,
  name: string,
  entries: Readonly<Record<string, string>>,
): Promise<void> {
  const folder = join(directory, 'node_modules', name);
  await mkdir(folder, { recursive: true });
  const exports: Record<string, string> = {};
  for (const [entry, text] of Object.entries(entries)) {
    const file = `./${entry.replaceAll(/\W/g, '_')}.mjs`;
    exports[entry] = file;
    await writeFile(join(folder, file), text);
  }
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name, exports }));
}
