import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import { runChild } from './child.mjs';
import { withInstallLock } from './install-lock.mjs';
import { exitWithError, printNote } from './standard-error.mjs';

const OUR_NODE = /[/\\]node_modules[/\\](?:\.bin|node-[\w-]+[/\\]bin)$/;

/**
 * Installs the packages of package-lock.json that are needed, unless they are installed. Reads npm's record of its last complete
 * installation, which takes a millisecond or two; an interrupted installation does not count.
 * @param {string} root directory of package-lock.json
 * @param {{ development: boolean }} need whether development tools are needed too
 */
export async function ensureDependencies(root, { development }) {
  // A packaged copy has no lock file, and contains its dependencies.
  if (!existsSync(join(root, 'package-lock.json'))) return;
  if (development && !canInstallTools(process.versions.node)) {
    exitWithError(
      `The tools for tests and checks need Node.js 20.19, 22.13 or 24 for their installation, and this is ${process.version}: use one of those, and first remove node_modules if this one created it. The service also starts with this one.`,
    );
  }
  if (isInstalled(root, development)) return;
  await withInstallLock(join(root, '.install-lock'), sayWaiting, async () => {
    if (!isInstalled(root, development)) await install(root, planInstallation(root, development));
  });
}

/** With an older Node.js, npm silently skips the programs of linter and formatter, which are optional packages. */
function canInstallTools(version) {
  const [major, minor] = version.split('.').map(Number);
  const oldest = { 20: 19, 22: 13, 23: 5 };
  return major >= 24 || minor >= (oldest[major] ?? Infinity);
}

function sayWaiting() {
  printNote('Another process is installing the dependencies: waiting for it.');
}

/**
 * Returns the command of npm. Tools are added to the installed packages of a service, which may be running: `npm ci` would delete
 * its modules first. A changed lock file needs `npm ci`, which keeps the tools where they were installed before.
 */
function planInstallation(root, development) {
  if (development && isInstalled(root, false)) return ['install', '--no-save', '--include=dev'];
  const hasTools = Object.values(readInstalled(root) ?? {}).some(({ dev }) => dev === true);
  return ['ci', development || hasTools ? '--include=dev' : '--omit=dev'];
}

function readInstalled(root) {
  return readPackages(join(root, 'node_modules', '.package-lock.json'));
}

function isInstalled(root, development) {
  const installed = readInstalled(root);
  if (installed === null) return false;
  const wanted = readPackages(join(root, 'package-lock.json')) ?? {};
  return Object.entries(wanted).every(([path, entry]) => {
    // The workspaces themselves are not installed packages.
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
    // Missing or truncated: not a complete installation.
    if (error.code === 'ENOENT' || error instanceof SyntaxError) return null;
    throw error;
  }
}

async function install(root, npmArguments) {
  printNote('Installing the dependencies; this takes up to half a minute, once …');
  const [command, ...args] = npmCommand();
  const options = {
    cwd: root,
    env: { ...process.env, PATH: pathWithoutOurNode() },
    // The output of npm must not mix with that of the program.
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32' && command === 'npm',
  };
  const flags = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];
  const { code, stopCode } = await runChild(
    command,
    [...args, ...npmArguments, ...flags],
    options,
  ).catch((error) =>
    exitWithError(`Latchkey could not start npm (${error.message}): install Node.js with npm.`),
  );
  // Nothing is started after a signal, even if npm finished.
  if (stopCode !== null) process.exit(stopCode);
  if (code !== 0) {
    exitWithError(
      'Latchkey could not install its dependencies (see the error of npm above): it needs the npm registry once, so check the network and the proxy settings and run the same command again.',
      code,
    );
  }
  dropUnusableNode(root);
}

/** The npm that started this process, if any: it exists even without an npm in the path. */
function npmCommand() {
  const npm = process.env.npm_execpath;
  if (npm === undefined || !/npm-cli\.c?js$/.test(npm)) return ['npm'];
  return [process.env.npm_node_execpath ?? process.execPath, npm];
}

/** Removes the directories of a Node.js that `npm ci` deletes: its link, and its package. */
function pathWithoutOurNode() {
  const parts = (process.env.PATH ?? '').split(delimiter);
  return parts.filter((part) => !OUR_NODE.test(part)).join(delimiter);
}

/** If the packaged Node.js does not run (musl), it must not precede the machine's own in npm's path. */
function dropUnusableNode(root) {
  const node = join(root, 'node_modules', '.bin', 'node');
  if (!existsSync(node)) return;
  try {
    execFileSync(node, ['--version'], { stdio: 'ignore' });
  } catch {
    rmSync(node);
  }
}
