import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { rolldown, type OutputChunk } from 'rolldown';

/** Every entry of the package: modules of one left out would be loaded twice, and settings would apply to one copy alone. */
const TYPEBOX = ['compile', 'error', 'format', 'guard', 'schema', 'system', 'type', 'value'].map(
  (entry) => `typebox/${entry}`,
);

/** The packages of many modules that most processes load, together with those that must share modules with them. */
export const PACKAGES = [
  'typebox',
  ...TYPEBOX,
  '@fastify/ajv-compiler',
  '@fastify/fast-json-stringify-compiler',
  '@fastify/type-provider-typebox',
  'commander',
  'fastify',
  'lru-cache',
  'nodemailer',
  'pg',
  'pino',
  'prom-client',
  'uuid',
  'ws',
  'yaml',
];

/** Packages that others import only if they are installed. */
const OPTIONAL = ['bufferutil', 'pg-native', 'pino-pretty', 'utf-8-validate'];

/**
 * Bundles packages that the service and the agent import: their 1,000 modules take half of the time in which a process loads the service.
 * @param directory where the bundles are written; it is created
 * @returns the URL of each imported name
 */
export async function bundlePackages(directory: string): Promise<Record<string, string>> {
  const input = PACKAGES.map((each) => [toName(each), fileURLToPath(import.meta.resolve(each))]);
  const bundle = await rolldown({
    input: Object.fromEntries(input),
    platform: 'node',
    treeshake: false,
    external: OPTIONAL,
  });
  await mkdir(directory);
  const { output } = await bundle.write({
    dir: directory,
    format: 'esm',
    entryFileNames: '[name].mjs',
  });
  await bundle.close();
  const chunks = output.filter((each) => each.type === 'chunk');
  const urls = PACKAGES.map(async (each) => {
    const entry = chunks.find(({ name }) => name === toName(each));
    const file = await addNames(directory, each, entry);
    return [each, pathToFileURL(join(directory, file)).href];
  });
  return Object.fromEntries(await Promise.all(urls));
}

function toName(specifier: string): string {
  return specifier.replace('@', '').replaceAll('/', '-');
}

/** The names of the whole of a CommonJS module. */
const WHOLE = new Set(['default', 'module.exports']);

/** Adds the names that Node.js finds in a CommonJS module, of which a bundle exports only the whole. */
async function addNames(
  directory: string,
  specifier: string,
  chunk: OutputChunk | undefined,
): Promise<string> {
  if (chunk === undefined) throw new Error(`${specifier} was not bundled`);
  if (chunk.exports.join() !== 'default') return chunk.fileName;
  const exported: Record<string, unknown> = await import(specifier);
  const names = Object.keys(exported).filter((name) => !WHOLE.has(name));
  const lines = [
    `import whole from './${chunk.fileName}';`,
    `export { whole as default, whole as 'module.exports' };`,
    `export const { ${names.join(', ')} } = whole;`,
  ];
  const file = `named-${chunk.fileName}`;
  await writeFile(join(directory, file), lines.join('\n'));
  return file;
}
