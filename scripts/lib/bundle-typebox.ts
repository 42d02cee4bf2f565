import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { rolldown } from 'rolldown';

/** Every entry of the package: modules of one left out would be loaded twice, and settings would apply to one copy alone. */
const ENTRIES = ['compile', 'error', 'format', 'guard', 'schema', 'system', 'type', 'value'];
const SPECIFIERS = ['typebox', ...ENTRIES.map((entry) => `typebox/${entry}`)];

/**
 * Bundles TypeBox, whose 540 modules take a third of the time in which a process loads the service, and writes a module that
 * resolves its imports to the bundle. A test run starts some hundred processes.
 * @param directory where both are written
 * @returns the option of `node` for that module
 */
export async function bundleTypebox(directory: string): Promise<string> {
  const input = SPECIFIERS.map((each) => [toName(each), fileURLToPath(import.meta.resolve(each))]);
  const bundle = await rolldown({
    input: Object.fromEntries(input),
    platform: 'node',
    treeshake: false,
  });
  await mkdir(directory);
  await bundle.write({ dir: directory, format: 'esm', entryFileNames: '[name].mjs' });
  await bundle.close();
  const urls = SPECIFIERS.map((each) => [
    each,
    pathToFileURL(join(directory, `${toName(each)}.mjs`)).href,
  ]);
  const hook = join(directory, 'resolve.mjs');
  await writeFile(hook, renderHook(Object.fromEntries(urls)));
  return `--import=${pathToFileURL(hook).href}`;
}

function toName(specifier: string): string {
  return specifier.replace('/', '-');
}

function renderHook(urls: Record<string, string>): string {
  // Older versions of Node.js, which some tests start, have no such hooks.
  return `import * as modules from 'node:module';
const urls = new Map(Object.entries(${JSON.stringify(urls)}));
modules.registerHooks?.({
  resolve(specifier, context, next) {
    const url = urls.get(specifier);
    return url === undefined ? next(specifier, context) : { url, format: 'module', shortCircuit: true };
  },
});
`;
}
