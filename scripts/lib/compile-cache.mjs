import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const SOURCES = [join('server', 'src'), join('contract', 'src')];

/**
 * Returns the directory of the compile cache of Node.js, which halves the time of a start.
 * @param {string} root directory of node_modules
 */
export function compileCacheDirectory(root) {
  return join(root, 'node_modules', '.cache', 'latchkey');
}

/**
 * Compiles the service in a separate process, unless it is compiled since the last change of its sources. Otherwise the
 * WebAssembly program that strips the types would stay in the memory of the first start: some 20 MB.
 * @param {string} root directory of node_modules
 * @param {string} node the Node that will run the service
 */
export function warmCompileCache(root, node) {
  const directory = compileCacheDirectory(root);
  const marker = join(directory, `warm-${statSync(node).mtimeMs}`);
  const warmedAt = statSync(marker, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (newestSource(root) <= warmedAt) return;
  const files = ['main.ts', 'serve.ts', 'cli/program.ts', 'cli/serve.ts', 'workers/primary.ts'];
  const entries = [...files, 'workers/worker.ts'].map(
    (file) => pathToFileURL(join(root, 'server', 'src', file)).href,
  );
  const program = `await Promise.all(${JSON.stringify(entries)}.map((url) => import(url)));`;
  const { status } = spawnSync(node, ['--input-type=module', '--eval', program], {
    env: { ...process.env, NODE_COMPILE_CACHE: directory },
    stdio: 'ignore',
  });
  if (status !== 0) return;
  try {
    mkdirSync(directory, { recursive: true });
    writeFileSync(marker, '');
  } catch (error) {
    // A read-only installation starts without the cache.
    if (error.code !== 'EROFS' && error.code !== 'EACCES') throw error;
  }
}

function newestSource(root) {
  let newest = 0;
  for (const folder of SOURCES) {
    const directory = join(root, folder);
    for (const file of readdirSync(directory, { recursive: true })) {
      newest = Math.max(newest, statSync(join(directory, file)).mtimeMs);
    }
  }
  return newest;
}
