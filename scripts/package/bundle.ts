import { readFile } from 'node:fs/promises';

import { rolldown, type RolldownOutput } from 'rolldown';

import { packAssets } from './assets.ts';
import { packPage, PAGE } from './page.ts';

/** The agent as plain JavaScript. */
export interface Bundle {
  /** By their paths below the folder of the bundle. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** Names of the packages of npm that are in it. */
  readonly packages: readonly string[];
}

/** The file that starts the agent. */
export const ENTRY = 'latchkey-agent.cjs';

/**
 * Bundles a program with all that it imports and the files that it names (see `packAssets`). What it imports
 * dynamically stays in files of its own, loaded by those who need it.
 * @param root the repository
 * @param entry the program's first file
 * @throws Error for what cannot be bundled: an unknown import, a file that is not there
 */
export async function bundleProgram(root: string, entry: string): Promise<Bundle> {
  const assets = packAssets();
  const page = packPage();
  const build = await rolldown({
    input: entry,
    cwd: root,
    platform: 'node',
    // Two commands may share what one of them loads late.
    checks: { ineffectiveDynamicImport: false },
    plugins: [page.plugin, assets.plugin],
    onLog: (_level, log) => {
      throw new Error(`The bundler warns: ${log.message}`);
    },
  });
  const output = await build.generate({
    format: 'cjs',
    entryFileNames: ENTRY,
    chunkFileNames: '[name].cjs',
    comments: { legal: false, annotation: false, jsdoc: false },
    // Names are kept, for the stack traces in a report of a fault.
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
  });
  await build.close();
  const files = new Map(listChunks(output));
  for (const [path, source] of assets.files) files.set(path, await readFile(source));
  const packages = listPackages(output, [...assets.files.values()]);
  const document = page.read();
  if (document === null) return { files, packages };
  files.set(PAGE, Buffer.from(document));
  return { files, packages: [...packages, 'uplot'].sort() };
}

function listChunks({ output }: RolldownOutput): [string, Buffer][] {
  return output.map((each) => {
    if (each.type === 'asset') throw new Error(`The bundler made ${each.fileName}.`);
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
    // The bundler's own few lines.
    if (path.includes('rolldown/runtime')) return 'rolldown';
    return /.*\/node_modules\/(?<name>(?:@[^/]+\/)?[^/]+)/.exec(path)?.groups?.['name'];
  });
  return [...new Set(names.filter((name) => name !== undefined))].sort();
}
