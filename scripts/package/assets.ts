import { dirname, isAbsolute, join, sep } from 'node:path';
import { createRequire } from 'node:module';

import type { Plugin } from 'rolldown';

/** The files that a program reads at run time, found during bundling. */
export interface PackedAssets {
  readonly plugin: Plugin;
  /** Maps paths in the package to paths of sources; complete after bundling. */
  readonly files: ReadonlyMap<string, string>;
}

/** `new URL('./style.css', import.meta.url)` */
const OWN_FILE = /new URL\(\s*'(?<path>\.[^']*)',\s*import\.meta\.url,?\s*\)/g;
/** `import.meta.resolve('uplot/dist/uPlot.min.css')` */
const FILE_OF_PACKAGE = /import\.meta\.resolve\(\s*'(?<specifier>[^']+)',?\s*\)/g;

const FOLDER = 'assets';

/**
 * Packs every file that a source names as `new URL('./file', import.meta.url)` or `import.meta.resolve('package/file')`,
 * and rewrites both to the path in the package. Any other use of `import.meta` is rejected, because it would fail only
 * at run time of the package.
 */
export function packAssets(): PackedAssets {
  const files = new Map<string, string>();
  function pack(source: string): string {
    const path = `${FOLDER}/${namePacked(source)}`;
    files.set(path, source);
    return `new URL('./${path}', import.meta.url)`;
  }
  const plugin: Plugin = {
    name: 'pack-assets',
    transform(code, id) {
      // The bundler's own module has no path, and packages find their files themselves.
      if (!isAbsolute(id) || id.includes('node_modules')) return null;
      const rest = code.replaceAll(OWN_FILE, '').replaceAll(FILE_OF_PACKAGE, '');
      if (rest.includes('import.meta')) {
        throw new Error(`${id}: write the whole path of the file of import.meta as a literal.`);
      }
      return code
        .replaceAll(OWN_FILE, (_, path: string) => pack(join(dirname(id), path)))
        .replaceAll(FILE_OF_PACKAGE, (_, specifier: string) => {
          return `${pack(createRequire(id).resolve(specifier))}.href`;
        });
    },
  };
  return { plugin, files };
}

/** `…/node_modules/uplot/dist/a.css` is `uplot/dist/a.css`; `…/agent/src/page/b.css` is `page/b.css`. */
function namePacked(path: string): string {
  const [, name = ''] = /.*\/(?:node_modules|src)\/(.+)$/.exec(path.replaceAll(sep, '/')) ?? [];
  if (name === '') throw new Error(`${path} is outside of the sources and packages.`);
  return name;
}
