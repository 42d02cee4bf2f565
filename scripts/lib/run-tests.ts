import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

import {
  LAYOUT_VARIABLE,
  openTestCluster,
  TEST_CLUSTER_VARIABLE,
} from '../../server/test/test-cluster.ts';
import { groupTests } from './group-tests.ts';
import { listTests, selectTests } from './select-tests.ts';
import { speedUpImports } from './speed-up-imports.ts';
import { repository } from './steps.ts';
import { findTestRoot } from './test-root.ts';

/** The timeout of one test, hooks included. */
const TEST_TIMEOUT_MS = 300_000;

/** The tests of `npm run test:console`, of pages in Chromium and of the demo: together they take longer than all others. */
export const CONSOLE_TESTS = [
  'agent/test/fleet-view.test.ts',
  'agent/test/fleet/fleet-cost.test.ts',
  'agent/test/fleet/fleet-page.test.ts',
  'agent/test/fleet/fleet-turns.test.ts',
  'agent/test/fleet/private-addresses.test.ts',
  'agent/test/live-page.test.ts',
  'console/test/actions.test.ts',
  'console/test/buyer-page.test.ts',
  'console/test/pages.test.ts',
  'console/test/provider.test.ts',
  'console/test/restart.test.ts',
  'scripts/demo/demo.test.ts',
];

/** The tests of `npm run test:faults` only: they wait for killed, frozen and restarted programs most of the time. */
export const FAULT_TESTS = 'server/test/faults/';

/** The tests of `npm run test:release` only: they build packages, and install them on booted systems. */
export const RELEASE_TESTS = 'scripts/release/test/';

/** The tests of `npm run test:workers` only: each starts several processes. */
const WORKER_TESTS = 'server/test/workers/';

/** The tests of `npm run test:clients` only. */
const LONG_CLIENT_TESTS = /^clients\/[^/]+\/test\/long\//;

/**
 * Runs tests with the test runner of Node.js on one PostgreSQL. They write only below one temporary directory, which is always
 * removed.
 * @param selection test files, directories of them and options of `node --test`; empty for every test but those of other commands: {@link CONSOLE_TESTS}, {@link FAULT_TESTS}, {@link RELEASE_TESTS}, {@link WORKER_TESTS} and {@link LONG_CLIENT_TESTS}
 * @returns whether there are tests, all of them passed, and every path of the selection exists
 */
export async function runTests(selection: readonly string[], stop: AbortSignal): Promise<boolean> {
  const options = selection.filter((each) => each.startsWith('-'));
  const paths = selection.filter((each) => !each.startsWith('-'));
  const selected = await selectTests(paths);
  for (const path of selected.unmatched) console.log(`No test file matches ${path}.`);
  for (const note of selected.notes) console.log(note);
  const files = paths.length === 0 ? await findShortTests() : selected.files;
  if (files.length === 0 || selected.unmatched.length > 0) return false;
  const directory = await mkdtemp(join(await findTestRoot(), 'latchkey-test-'));
  try {
    // Some tests start programs under another account.
    await chmod(directory, 0o755);
    const speedUp = speedUpImports(join(directory, 'imports'));
    await using cluster = await openTestCluster(join(directory, 'cluster'));
    const environment = {
      ...cleanEnvironment(),
      // A user's PATH may lack the directories of web servers.
      PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`,
      TMPDIR: directory,
      // Many processes load the same modules.
      NODE_COMPILE_CACHE: join(directory, 'compile-cache'),
      NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} ${await speedUp}`,
      [TEST_CLUSTER_VARIABLE]: cluster.asVariable,
    };
    const grouped = paths.length === 0 ? await groupTests(files, join(directory, 'groups')) : files;
    return stop.aborted ? false : await runNodeTests([...options, ...grouped], environment, stop);
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}

async function findShortTests(): Promise<string[]> {
  const files = await listTests();
  return files.filter(
    (file) =>
      !CONSOLE_TESTS.includes(file) &&
      !file.startsWith(FAULT_TESTS) &&
      !file.startsWith(RELEASE_TESTS) &&
      !file.startsWith(WORKER_TESTS) &&
      !LONG_CLIENT_TESTS.test(file),
  );
}

/** What tests read themselves. */
const KEPT_VARIABLES = new Set<string>([
  LAYOUT_VARIABLE,
  'LATCHKEY_TEST_CITUS_URL',
  'LATCHKEY_TEST_WORKERS',
]);

/** Removes the settings of another service. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const foreign = /^(LATCHKEY_|DATABASE_URL|REDIS_URL|PORT$|NODE_TEST_CONTEXT)/;
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => KEPT_VARIABLES.has(name) || !foreign.test(name)),
  );
}

async function runNodeTests(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  stop: AbortSignal,
): Promise<boolean> {
  // Two more than the cores: files that wait for something leave their core to another.
  const concurrency = availableParallelism() + 2;
  const flags = [
    // Loading modules fills a small young generation again and again, whose collections took 7 % of the processor time of groups.
    '--min-semi-space-size=16',
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
