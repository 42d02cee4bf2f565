import { readFile, writeFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { pathToFileURL } from 'node:url';

import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import { bundlePackages } from './bundle-packages.ts';
import { repository } from './steps.ts';

const root = pathToFileURL(repository).href;

/**
 * Writes a module with which a process loads this repository's modules in about half the time: packages come from bundles, and
 * the imports of these modules are resolved by name. A test run starts some hundred processes.
 * @param directory for its files; it is created
 * @returns the option of `node` for that module
 */
export async function speedUpImports(directory: string): Promise<string> {
  const packages = await bundlePackages(directory);
  const { names, folders } = await readOwnNames();
  const facts = { root, names: { ...packages, ...names }, folders };
  const hook = new URL('resolve-imports.mjs', import.meta.url).href;
  const file = join(directory, 'resolve.mjs');
  await writeFile(
    file,
    `import { resolveImportsFast } from '${hook}';\nresolveImportsFast(${JSON.stringify(facts)});\n`,
  );
  return `--import=${pathToFileURL(file).href}`;
}

const Paths = Type.Optional(Type.Record(Type.String(), Type.String()));
const Workspace = Type.Object({ name: Type.String(), imports: Paths, exports: Paths });

/** Reads which names the workspaces declare: whole ones such as `@latchkey/contract`, and folders such as `#server/`. */
async function readOwnNames(): Promise<Record<'names' | 'folders', Record<string, string>>> {
  const declared = await Promise.all(
    ['agent', 'console', 'contract', 'server'].map(async (folder) => {
      const text = await readFile(join(repository, folder, 'package.json'), 'utf8');
      const { name, exports = {}, imports = {} } = Parse(Workspace, JSON.parse(text));
      const locate = (path: string): string => new URL(path, `${root}${folder}/`).href;
      return {
        names: Object.entries(exports).map(([key, path]) => [posix.join(name, key), locate(path)]),
        folders: Object.entries(imports)
          .map(([key, path]) => [key, path].map((each) => each.replace('*', '')))
          .map(([key = '', path = '']) => [key, locate(path)]),
      };
    }),
  );
  return {
    names: Object.fromEntries(declared.flatMap(({ names }) => names)),
    folders: Object.fromEntries(declared.flatMap(({ folders }) => folders)),
  };
}
