/** Bundles the entries of the package: the modules that a program loads. */
import { fileURLToPath } from 'node:url';

import { build, type OutputChunk } from 'rolldown';

import manifest from '../package.json' with { type: 'json' };

const source = fileURLToPath(new URL('../src/', import.meta.url));

/** The names of the entries, which are those of their sources and of their files in `dist/`. */
export const ENTRIES: readonly string[] = Object.values(manifest.exports).map(({ default: file }) =>
  file.replace(/^\.\/dist\/|\.js$/g, ''),
);

/** A module of `dist/`. */
export interface BundledModule {
  readonly file: string;
  readonly code: string;
  /** The modules that it loads, of `dist/` or of Node.js. */
  readonly imports: readonly string[];
}

/** @throws Error when a source has an error */
export async function bundleModules(): Promise<BundledModule[]> {
  const { output } = await build({
    input: Object.fromEntries(ENTRIES.map((entry) => [entry, `${source}${entry}.ts`])),
    external: /^node:/,
    platform: 'neutral',
    write: false,
    output: {
      format: 'esm',
      minify: true,
      entryFileNames: '[name].js',
      chunkFileNames: 'chunks/[name].js',
      // With everything that it imports: smaller parts would compress worse.
      codeSplitting: { groups: [{ name: 'core', test: /src\/latchkey\.ts$/ }] },
    },
    logLevel: 'warn',
  });
  return output.filter((each) => each.type === 'chunk').map(toModule);
}

function toModule({ fileName, code, imports }: OutputChunk): BundledModule {
  return { file: fileName, code, imports };
}

/** Returns an entry and everything of `dist/` that it loads. */
export function listLoaded(modules: readonly BundledModule[], entry: string): BundledModule[] {
  const loaded = new Set([`${entry}.js`]);
  for (const file of loaded) {
    const { imports = [] } = modules.find((each) => each.file === file) ?? {};
    for (const each of imports) if (!each.startsWith('node:')) loaded.add(each);
  }
  return modules.filter(({ file }) => loaded.has(file));
}
