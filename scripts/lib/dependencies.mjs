import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import { runChild } from './child.mjs';
import { withInstallLock } from './install-lock.mjs';
import { giveUp, say } from './say.mjs';

const OUR_NODE = /[/\\]node_modules[/\\](?:\.bin|node-[\w-]+[/\\]bin)$/;

/**
 * Installs what package-lock.json names, unless it is there already. Asks npm's own record of its last complete
 * installation, so a look takes a millisecond or two, and one that broke off counts as none.
 * @param {string} root directory of package-lock.json
 * @param {{ development: boolean }} need whether the tools for tests and checks must be there too
 */
export async function ensureDependencies(root, { development }) {
  // A packaged copy has no lock file: what it needs came with it.
  if (!existsSync(join(root, 'package-lock.json'))) return;
  if (development && !canInstallTools(process.versions.node)) {
    giveUp(
      `The tools for tests and checks need Node.js 20.19, 22.13 or 24 to be installed, and this is ${process.version}: take one of those, and remove node_modules first if this one made it. The service starts with this one, too.`,
    );
  }
  if (isInstalled(root, development)) return;
  await withInstallLock(join(root, '.install-lock'), sayWaiting, async () => {
    if (!isInstalled(root, development)) await install(root);
  });
}

/** With an older Node npm leaves the programs of linter and formatter out and says nothing: they are optional packages. */
function canInstallTools(version) {
  const [major, minor] = version.split('.').map(Number);
  const oldest = { 20: 19, 22: 13, 23: 5 };
  return major >= 24 || minor >= (oldest[major] ?? Infinity);
}

function sayWaiting() {
  say('Another process is installing the dependencies: waiting for it.');
}

function isInstalled(root, development) {
  const installed = readPackages(join(root, 'node_modules', '.package-lock.json'));
  if (installed === null) return false;
  const wanted = readPackages(join(root, 'package-lock.json')) ?? {};
  return Object.entries(wanted).every(([path, entry]) => {
    // The workspaces themselves: their sources are no packages.
    if (!path.includes('node_modules/')) return true;
    const present = installed[path];
    if (present !== undefined) return present.version === entry.version;
    return entry.optional === true || (entry.dev === true && !development);
  });
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages ?? null;
  } catch (error) {
    // Not there, or cut off while it was written: no complete installation.
    if (error.code === 'ENOENT' || error instanceof SyntaxError) return null;
    throw error;
  }
}

async function install(root) {
  say('Installing the dependencies, which takes about half a minute once …');
  const [command, ...args] = npmCommand();
  const options = {
    cwd: root,
    env: { ...process.env, PATH: pathWithoutOurNode() },
    // npm's chatter must not mix with the output of the program that is about to run.
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32' && command === 'npm',
  };
  const flags = ['ci', '--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];
  const { code, stopCode } = await runChild(command, [...args, ...flags], options).catch((error) =>
    giveUp(`Latchkey could not start npm (${error.message}): install Node.js with npm.`),
  );
  // Also when npm was done just then: nothing is to be started any more.
  if (stopCode !== null) process.exit(stopCode);
  if (code !== 0) {
    giveUp(
      'Latchkey could not install its dependencies (npm says why above): it needs the npm registry once, so look at the network or the proxy settings and run the same command again.',
      code,
    );
  }
  dropUnusableNode(root);
}

/** The npm that started us, where there is one: it is there even when no npm is in the path. */
function npmCommand() {
  const npm = process.env.npm_execpath;
  if (npm === undefined || !/npm-cli\.c?js$/.test(npm)) return ['npm'];
  return [process.env.npm_node_execpath ?? process.execPath, npm];
}

/** Without the places of a Node that `npm ci` is about to delete: its link, and its package. */
function pathWithoutOurNode() {
  const parts = (process.env.PATH ?? '').split(delimiter);
  return parts.filter((part) => !OUR_NODE.test(part)).join(delimiter);
}

/** Where the packaged Node does not run (musl), it must not stand before the machine's own in npm's path. */
function dropUnusableNode(root) {
  const node = join(root, 'node_modules', '.bin', 'node');
  if (!existsSync(node)) return;
  try {
    execFileSync(node, ['--version'], { stdio: 'ignore' });
  } catch {
    rmSync(node);
  }
}
