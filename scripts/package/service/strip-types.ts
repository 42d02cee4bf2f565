import { stripTypeScriptTypes } from 'node:module';
import { posix } from 'node:path';

/** The path of an import or of `new URL('./file', import.meta.url)`. */
const OWN_MODULE = /(?<=\b(?:from |import |import\(|new URL\()'[^'\n]+)\.ts(?=')/g;
/** An import of the workspace that packages do not install. */
const CONTRACT = /(?<=\b(?:from |import |import\()')@latchkey\/contract(?<entry>\/[\w-]+)?(?=')/g;

/**
 * Turns TypeScript into JavaScript with the same lines and columns, so that stack traces show those of the sources: types become
 * spaces, and imports name the `.js` files. Node.js strips no types below `node_modules`.
 * @param file the path of the source in the repository
 */
export function stripTypes(file: string, source: string): string {
  return stripTypeScriptTypes(source)
    .replaceAll(OWN_MODULE, '.js')
    .replaceAll(CONTRACT, (_, entry = '/index') => {
      return posix.relative(posix.dirname(file), `contract/src${entry}.js`);
    });
}
