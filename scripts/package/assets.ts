import { dirname, isAbsolute, join, sep } from 'node:path';
import { createRequire } from 'node:module';

import type { Plugin } from 'rolldown';

/** Files that a program reads while it runs, found while it is bundled. */
export interface PackedAssets {
  readonly plugin: Plugin;
  /** Path in the package to path here; complete once the bundle is made. */
  readonly files: ReadonlyMap<string, string>;
}

/** `new URL('./style.css', import.meta.url)` */
const OWN_FILE = /new URL\(\s*'(?<path>\.[^']*)',\s*import\.meta\.url,?\s*\)/g;
/** `import.meta.resolve('uplot/dist/uPlot.min.css')` */
const FILE_OF_PACKAGE = /import\.meta\.resolve\(\s*'(?<specifier>[^']+)',?\s*\)/g;

const FOLDER = 'assets';

/**
 * Packs every file that a source names as `new URL('./file', import.meta.url)` or `import.meta.resolve('package/file')`,
 * and points both to where it lies in the package. Any other use of `import.meta` is refused, since it would fail only
 * where the package runs.
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
      // The bundler's own module is at no path, and packages find their files themselves.
      if (!isAbsolute(id) || id.includes('node_modules')) return null;
      const rest = code.replaceAll(OWN_FILE, '').replaceAll(FILE_OF_PACKAGE, '');
      if (rest.includes('import.meta')) {
        throw new Error(`${id}: name the whole file that import.meta is asked for, as a literal.`);
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
  if (name === '') throw new Error(`${path} lies outside the sources and packages.`);
  return name;
}
