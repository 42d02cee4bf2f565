/**
 * `npm run test:systems`: boots Debians with systemd beside a certificate authority, and installs the agent on them. It needs
 * root, and names other requirements that are missing. Missing trees, from which machines are booted, are built first.
 *
 * - `-- --prepare` only builds the trees.
 * - `-- --if-possible` exits with 0 and prints the reason where systems cannot be booted.
 * - `-- --minutes=45` starts no test file after 45 minutes, and lists those that did not run.
 * - `-- --test-name-pattern=… agent/test/systems/doctor.test.ts` runs these tests of these files.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { glob } from 'node:fs/promises';
import { parseArgs } from 'node:util';

import { repository } from './lib/steps.ts';
import { listenForStop } from './lib/stop-signals.ts';
import { buildMissingTrees } from './lib/system-trees.ts';

const TEST_TIMEOUT_MS = 300_000;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    prepare: { type: 'boolean', default: false },
    'if-possible': { type: 'boolean', default: false },
    minutes: { type: 'string', default: '1440' },
    'test-name-pattern': { type: 'string', default: '.' },
  },
});
const deadline = performance.now() + Number(options.minutes) * 60_000;
const stop = listenForStop();

const blocker = await buildMissingTrees();
if (blocker === null) {
  if (!options.prepare) process.exitCode = (await runTestFiles()) ? 0 : 1;
} else if (options['if-possible']) {
  console.log(`System tests did not run: ${blocker}`);
} else {
  console.log(`✖ ${blocker}`);
  process.exitCode = 1;
}
process.exitCode = stop.exitCode() ?? process.exitCode ?? 0;

/** Runs the files one after the other, since machines that boot at the same time slow each other down. */
async function runTestFiles(): Promise<boolean> {
  const files = positionals.length > 0 ? positionals : await findTestFiles();
  const failed: string[] = [];
  const started = files.length;
  while (files.length > 0 && !stop.signal.aborted && performance.now() < deadline) {
    const file = files.shift();
    if (file !== undefined && !(await runTestFile(file))) failed.push(file);
  }
  if (files.length > 0) console.log(`Did not run in time: ${files.join(', ')}`);
  if (failed.length > 0) console.log(`✖ failed: ${failed.join(', ')}`);
  return failed.length === 0 && files.length < started;
}

async function findTestFiles(): Promise<string[]> {
  return (await Array.fromAsync(glob('agent/test/systems/*.test.ts', { cwd: repository }))).sort();
}

async function runTestFile(file: string): Promise<boolean> {
  const startedAt = performance.now();
  const pattern = `--test-name-pattern=${options['test-name-pattern']}`;
  const flags = ['--test', `--test-timeout=${TEST_TIMEOUT_MS}`, pattern];
  const child = spawn(process.execPath, [...flags, file], {
    cwd: repository,
    stdio: 'inherit',
    env: { ...process.env, LATCHKEY_SYSTEMS: 'all' },
  });
  const kill = (): void => void child.kill();
  stop.signal.addEventListener('abort', kill, { once: true });
  const [code]: unknown[] = await once(child, 'exit');
  stop.signal.removeEventListener('abort', kill);
  console.log(`${code === 0 ? '✔' : '✖'} ${file} ${secondsSince(startedAt)} s`);
  return code === 0;
}

function secondsSince(startedAt: number): string {
  return ((performance.now() - startedAt) / 1000).toFixed(0);
}
