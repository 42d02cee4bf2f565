import { execFileSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';

import { runChild } from './child.mjs';
import { compileCacheDirectory, warmCompileCache } from './compile-cache.mjs';
import { LINEAGE_VARIABLE, readLineage, watchLineage } from './follow-parent.mjs';
import { exitWithError } from './standard-error.mjs';

const NODE_FLAGS = ['--disable-warning=ExperimentalWarning'];

/**
 * Keeps the service small.
 * - With a limit on the old generation, V8 lets it grow by a third, instead of to two or four times the live data, before it
 *   collects: under load, 155 MB are resident instead of 250. Live data are below 40 MB.
 * - A young generation of 4 MB copied the data of hundreds of requests in progress again and again, which took a tenth of
 *   the processor time. With 16 MB nothing was faster than with 8, at the cost of 20 MB.
 * - Without Maglev, the compiler between Sparkplug and TurboFan, the same load left 20 MB less resident, warmed up sooner
 *   (10 % to 30 % less processor time in the first half million requests) and cost the same afterwards.
 */
const SERVICE_FLAGS = ['--max-semi-space-size=8', '--max-old-space-size=256', '--no-maglev'];

/** One arena of glibc's malloc for all threads: 5 to 10 MB less, and nothing slower. Other systems ignore it. */
const SERVICE_ENVIRONMENT = { MALLOC_ARENA_MAX: '1' };

/** Since 24.12 Node runs TypeScript without a warning. */
const OLDEST = [24, 12];

/** Read at the start, because the starter may end while dependencies are installed. */
const LINEAGE = readLineage();

const FOLLOW_PARENT = new URL('./follow-parent.mjs', import.meta.url).href;

/**
 * Runs a TypeScript file on Node 24 and ends with its exit code; does not return.
 * This process replaces itself with that Node if possible (`execve`), else it waits for it and passes signals on.
 * When the starter ends, npm or this process, the program gets a SIGTERM within half a second.
 * @param {string} root directory of node_modules
 * @param {string} file
 * @param {string[]} args
 */
export async function runWithNode24(root, file, args) {
  const node = findNode24(root);
  const service = join(root, 'server', 'src', 'main');
  const isService = file === `${service}.ts` || file === `${service}.js`;
  if (file === `${service}.ts` && args[0] === 'serve') warmCompileCache(root, node);
  // The benchmark starts the service with its own flags.
  const isBenchmark = file === join(root, 'bench', 'main.ts');
  const isSmall = isService || isBenchmark;
  const flags = isSmall ? [...NODE_FLAGS, ...SERVICE_FLAGS] : NODE_FLAGS;
  const added = {
    // Child processes that run `node` use the same one.
    PATH: [dirname(node), process.env.PATH ?? ''].join(delimiter),
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? compileCacheDirectory(root),
    ...(isSmall ? SERVICE_ENVIRONMENT : {}),
  };
  // Only npm is followed: a program that was started from a shell may outlive the shell.
  const followed = process.env.npm_lifecycle_event !== undefined;
  if (process.execve !== undefined && process.platform !== 'win32') {
    const environment = { ...process.env, ...added };
    if (followed) environment[LINEAGE_VARIABLE] = LINEAGE;
    process.execve(node, [node, ...flags, ...followFlags(followed), file, ...args], environment);
  }
  const environment = { ...process.env, ...added, [LINEAGE_VARIABLE]: String(process.pid) };
  const { code } = await runChild(
    node,
    [...flags, ...followFlags(true), file, ...args],
    { env: environment },
    (child) => {
      if (followed) watchLineage(LINEAGE, () => child.kill('SIGTERM'));
    },
  );
  process.exit(code);
}

function followFlags(followed) {
  return followed ? ['--import', FOLLOW_PARENT] : [];
}

/** Returns the Node of the lock file, or the machine's own if none is packaged for this platform. */
function findNode24(root) {
  const packaged = findPackagedNode(root);
  if (packaged !== null) return packaged;
  if (isRecent(process.versions.node)) return process.execPath;
  return exitWithError(
    `Latchkey needs Node.js ${OLDEST.join('.')} or newer, no packaged one runs on ${process.platform} ${process.arch}, and this is ${process.version}: install Node.js 24 and run the same command again.`,
  );
}

/**
 * Returns the program in its package: npm 10 removes the link in node_modules/.bin, with the packages for other platforms. If
 * this is an installed package itself, npm may have put that one beside it.
 */
function findPackagedNode(root) {
  const isWindows = process.platform === 'win32';
  const name = `node-${isWindows ? 'win' : process.platform}-${process.arch}`;
  const folders = createRequire(join(root, 'package.json')).resolve.paths(name) ?? [];
  const program = folders
    .map((folder) => join(folder, name, 'bin', isWindows ? 'node.exe' : 'node'))
    .find((path) => existsSync(path));
  if (program === undefined) return null;
  const node = realpathSync(program);
  // npm puts node_modules/.bin first in the path, so this usually is that Node, which needs no test.
  if (node === realpathSync(process.execPath)) return node;
  try {
    return isRecent(execFileSync(node, ['--version'], { encoding: 'utf8' }).slice(1)) ? node : null;
  } catch {
    return null;
  }
}

function isRecent(version) {
  const [major, minor] = version.split('.').map(Number);
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}
