/**
 * `npm run test:systems`: installs the agent on every kind of machine that a whole Debian with systemd can be, booted beside a
 * certificate authority of its own. It needs root; what else is missing it says. The trees that machines are booted from are
 * made first, where they are not there. `-- --prepare` makes them and stops; other options are for `node --test`.
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
const hindrance = missing.length > 0 ? whyTreesCannotBeMade() : null;
if (hindrance === null) {
  for (const release of missing) await makeTree(release);
  if (!args.includes('--prepare')) process.exitCode = await runTests();
} else {
  console.log(`✖ ${hindrance}`);
  process.exitCode = 1;
}
process.exitCode = stop.exitCode() ?? process.exitCode ?? 0;

async function makeTree(release: keyof typeof RELEASES): Promise<void> {
  console.log(`Making the tree of ${RELEASES[release]}; it takes a minute or two.`);
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
  const end = (): void => void child.kill();
  stop.signal.addEventListener('abort', end, { once: true });
  const [code]: unknown[] = await once(child, 'exit');
  return code === 0 ? 0 : 1;
}
