import { readFile } from 'node:fs/promises';

import { rolldown, type RolldownOutput } from 'rolldown';

import { packAssets } from './assets.ts';
import { packPages } from './page.ts';

/** The agent as plain JavaScript. */
export interface Bundle {
  /** The files, by their paths below the folder of the bundle. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** The names of the bundled npm packages. */
  readonly packages: readonly string[];
}

/** The file that starts the agent. */
export const ENTRY = 'latchkey-agent.cjs';

/**
 * Bundles a program with its imports and the files that it names (see `packAssets`). Dynamic imports become separate files,
 * loaded on demand.
 * @param root the repository
 * @param entry the program's first file
 * @throws Error for an unknown import or a missing file
 */
export async function bundleProgram(root: string, entry: string): Promise<Bundle> {
  const assets = packAssets();
  const pages = packPages();
  const build = await rolldown({
    input: entry,
    cwd: root,
    platform: 'node',
    // Commands may share a dynamic import, and a busy machine builds slowly.
    checks: { ineffectiveDynamicImport: false, bundlerTimings: false, pluginTimings: false },
    plugins: [pages.plugin, assets.plugin],
    onLog: (_level, log) => {
      throw new Error(`The bundler warns: ${log.message}`);
    },
  });
  const output = await build.generate({
    format: 'cjs',
    entryFileNames: ENTRY,
    chunkFileNames: '[name].cjs',
    comments: { legal: false, annotation: false, jsdoc: false },
    // Names are kept for stack traces in bug reports.
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
  });
  await build.close();
  const files = new Map(listChunks(output));
  for (const [path, source] of assets.files) files.set(path, await readFile(source));
  const packages = listPackages(output, [...assets.files.values()]);
  if (pages.files.size === 0) return { files, packages };
  for (const [path, document] of pages.files) files.set(path, document);
  return { files, packages: [...packages, 'uplot'].sort() };
}

function listChunks({ output }: RolldownOutput): [string, Buffer][] {
  return output.map((each) => {
    if (each.type === 'asset')
      throw new Error(`The bundler created an unexpected file ${each.fileName}.`);
    if (/\bfetch\(|\bWebAssembly\b/.test(each.code)) {
      throw new Error(
        `${each.fileName}: --jitless has no WebAssembly, and no fetch, which needs it.`,
      );
    }
    return [each.fileName, Buffer.from(toAscii(each.code))];
  });
}

/** A single non-ASCII character makes V8 keep two bytes for each character of the file. They occur in literals only. */
function toAscii(code: string): string {
  return code.replaceAll(/[^\0-\x7f]/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

function listPackages({ output }: RolldownOutput, assets: string[]): string[] {
  const modules = output.flatMap((each) => (each.type === 'chunk' ? each.moduleIds : []));
  const names = [...modules, ...assets].map((path) => {
    // The bundler's own runtime.
    if (path.includes('rolldown/runtime')) return 'rolldown';
    return /.*\/node_modules\/(?<name>(?:@[^/]+\/)?[^/]+)/.exec(path)?.groups?.['name'];
  });
  return [...new Set(names.filter((name) => name !== undefined))].sort();
}
