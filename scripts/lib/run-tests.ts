import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { chmod, glob, mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';

import { openTestCluster, TEST_CLUSTER_VARIABLE } from '../../server/test/test-cluster.ts';
import { bundleTypebox } from './bundle-typebox.ts';
import { repository } from './steps.ts';
import { findTestRoot } from './test-root.ts';

/** The timeout of one test, hooks included. */
const TEST_TIMEOUT_MS = 120_000;

/** Directories without tests of this repository. */
const SKIPPED_DIRECTORIES = new Set(['node_modules', 'data', '.git']);

/**
 * Runs tests with the test runner of Node.js on one PostgreSQL. They write only below one temporary directory, which is always
 * removed.
 * @param selection test files, directories of them and options of `node --test`; empty for every test
 * @returns whether all tests passed
 */
export async function runTests(selection: readonly string[], stop: AbortSignal): Promise<boolean> {
  const options = selection.filter((each) => each.startsWith('-'));
  const files = await findFiles(selection.filter((each) => !each.startsWith('-')));
  if (files.length === 0) {
    console.log('No test file matches.');
    return false;
  }
  const directory = await mkdtemp(join(await findTestRoot(), 'latchkey-test-'));
  try {
    // Some tests start programs under another account.
    await chmod(directory, 0o755);
    const bundling = bundleTypebox(join(directory, 'typebox'));
    await using cluster = await openTestCluster(join(directory, 'cluster'));
    const environment = {
      ...cleanEnvironment(),
      // A user's PATH may lack the directories of web servers.
      PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`,
      TMPDIR: directory,
      // Each file runs in a separate process, so they share compiled modules.
      NODE_COMPILE_CACHE: join(directory, 'compile-cache'),
      NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} ${await bundling}`,
      [TEST_CLUSTER_VARIABLE]: cluster.asVariable,
    };
    return stop.aborted ? false : await runNodeTests([...options, ...files], environment, stop);
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}

async function findFiles(selected: readonly string[]): Promise<string[]> {
  const from = selected.map((path) => relative(repository, path) || '.');
  const patterns = (from.length === 0 ? ['.'] : from).map((path) =>
    isDirectory(path) ? `${path}/**/*.test.ts` : path,
  );
  return (await Array.fromAsync(glob(patterns, { cwd: repository, exclude }))).sort();
}

function exclude(path: string): boolean {
  return SKIPPED_DIRECTORIES.has(path.split('/').at(-1) ?? '');
}

function isDirectory(path: string): boolean {
  return statSync(join(repository, path), { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Removes the settings of another service. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const foreign = /^(LATCHKEY_|DATABASE_URL|REDIS_URL|PORT$|NODE_TEST_CONTEXT)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
}

async function runNodeTests(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  stop: AbortSignal,
): Promise<boolean> {
  // One more than the cores: files that wait for something leave their core to another.
  const concurrency = availableParallelism() + 1;
  const flags = [
    '--test',
    `--test-concurrency=${concurrency}`,
    `--test-timeout=${TEST_TIMEOUT_MS}`,
    '--disable-warning=ExperimentalWarning',
  ];
  const child = spawn(process.execPath, [...flags, ...args], {
    cwd: repository,
    stdio: 'inherit',
    env,
  });
  const end = (): void => void child.kill();
  stop.addEventListener('abort', end, { once: true });
  const [code]: unknown[] = await once(child, 'exit');
  stop.removeEventListener('abort', end);
  return code === 0;
}
