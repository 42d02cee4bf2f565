/**
 * `npm run test:systems`: boots Debians with systemd beside a certificate authority, and installs the agent on them. It needs
 * root, and names other requirements that are missing. Missing trees, from which machines are booted, are built first.
 * `-- --prepare` only builds them; other options are passed to `node --test`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { whyTreesCannotBeMade } from '../agent/test/systems/lacks.ts';
import { buildTree, listMissingTrees, RELEASES } from '../agent/test/systems/trees.ts';
import { repository } from './lib/steps.ts';
import { listenForStop } from './lib/stop-signals.ts';

const MAX_TEST_MS = 300_000;

const stop = listenForStop();
const args = process.argv.slice(2);

const missing = listMissingTrees();
const blocker = missing.length > 0 ? whyTreesCannotBeMade() : null;
if (blocker === null) {
  for (const release of missing) await buildMissingTree(release);
  if (!args.includes('--prepare')) process.exitCode = await runTests();
} else {
  console.log(`✖ ${blocker}`);
  process.exitCode = 1;
}
process.exitCode = stop.exitCode() ?? process.exitCode ?? 0;

async function buildMissingTree(release: keyof typeof RELEASES): Promise<void> {
  console.log(`Building the tree of ${RELEASES[release]}; it takes a minute or two.`);
  const startedAt = performance.now();
  await buildTree(release);
  console.log(`✔ ${RELEASES[release]}: ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
}

async function runTests(): Promise<number> {
  const flags = ['--test', '--test-concurrency=1', `--test-timeout=${MAX_TEST_MS}`];
  const child = spawn(process.execPath, [...flags, ...args, 'agent/test/systems/*.test.ts'], {
    cwd: repository,
    stdio: 'inherit',
    env: { ...process.env, LATCHKEY_SYSTEMS: 'all' },
  });
  const kill = (): void => void child.kill();
  stop.signal.addEventListener('abort', kill, { once: true });
  const [code]: unknown[] = await once(child, 'exit');
  return code === 0 ? 0 : 1;
}
