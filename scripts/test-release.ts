/**
 * `npm run test:release`: installs what `npm run release` builds, on booted systems and with the oldest Node.js; `npm test`
 * leaves these tests out. `npm run test:release -- scripts/release/test/npm.test.ts` runs only one file.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { glob } from 'node:fs/promises';

import { RELEASE_TESTS } from './lib/run-tests.ts';
import { repository } from './lib/steps.ts';
import { listenForStop } from './lib/stop-signals.ts';
import { buildMissingTrees } from './lib/system-trees.ts';

/** Of a file, which may build the whole release twice. */
const TEST_TIMEOUT_MS = 1_800_000;

/** Files whose tests boot Debians, from trees that are built first. */
const BOOTING = /-deb\.test\.ts$/;

const stop = listenForStop();
const selected = process.argv.slice(2);
const all = await Array.fromAsync(glob(`${RELEASE_TESTS}**/*.test.ts`, { cwd: repository }));
const files = selected.length > 0 ? selected : all.sort();
if (files.some((file) => BOOTING.test(file))) {
  const blocker = await buildMissingTrees();
  if (blocker !== null) console.log(`Tests on booted systems are skipped: ${blocker}`);
}
// One after the other: machines that boot at the same time slow each other down.
const flags = ['--test', '--test-concurrency=1', `--test-timeout=${TEST_TIMEOUT_MS}`];
const child = spawn(
  process.execPath,
  ['--disable-warning=ExperimentalWarning', ...flags, ...files],
  { cwd: repository, stdio: 'inherit', env: { ...process.env, LATCHKEY_SYSTEMS: 'all' } },
);
stop.signal.addEventListener('abort', () => void child.kill(), { once: true });
const [code]: unknown[] = await once(child, 'exit');
process.exitCode = stop.exitCode() ?? (code === 0 ? 0 : 1);
