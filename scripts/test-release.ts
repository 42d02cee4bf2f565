/**
 * `npm run test:release`: installs what `npm run release` builds, on booted systems and with the oldest Node.js; `npm test`
 * leaves these tests out. A skipped test fails it, because it decides whether a release is published.
 *
 * - `-- --if-possible` accepts skipped tests, whose requirements are missing here.
 * - `-- scripts/release/test/npm.test.ts` runs only one file.
 */
import { glob } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { parseArgs } from 'node:util';

import { RELEASE_TESTS } from './lib/run-tests.ts';
import { repository } from './lib/steps.ts';
import { listenForStop } from './lib/stop-signals.ts';
import { buildMissingTrees } from './lib/system-trees.ts';

/** Of a file, which may build the whole release twice. */
const TEST_TIMEOUT_MS = 1_800_000;

/** Files whose tests boot Debians, from trees that are built first. */
const BOOTING = /-deb\.test\.ts$/;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'if-possible': { type: 'boolean', default: false } },
});
const stop = listenForStop();
const all = await Array.fromAsync(glob(`${RELEASE_TESTS}**/*.test.ts`, { cwd: repository }));
const files = positionals.length > 0 ? positionals : all.sort();
const blocker = files.some((file) => BOOTING.test(file)) ? await buildMissingTrees() : null;
if (blocker !== null && !options['if-possible']) {
  console.log(`✖ ${blocker}`);
  process.exitCode = 1;
} else {
  if (blocker !== null) console.log(`Tests on booted systems are skipped: ${blocker}`);
  process.exitCode = (await runTestFiles()) ? 0 : 1;
}
process.exitCode = stop.exitCode() ?? process.exitCode;

/** @returns whether all passed, and none was skipped that must not be */
async function runTestFiles(): Promise<boolean> {
  process.env['LATCHKEY_SYSTEMS'] = 'all';
  const events = run({
    files: files.map((file) => resolve(repository, file)),
    // One after the other: machines that boot at the same time slow each other down.
    concurrency: 1,
    timeout: TEST_TIMEOUT_MS,
    signal: stop.signal,
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  const skipped: string[] = [];
  let isPassed = false;
  events.on('test:pass', ({ name, skip }) => {
    if (skip !== undefined) skipped.push(`${name}: ${skip}`);
  });
  events.on('test:summary', ({ success }) => (isPassed = success));
  await pipeline(events.compose(new spec()), process.stdout, { end: false });
  if (skipped.length === 0 || options['if-possible']) return isPassed;
  console.log(`\n✖ These tests were skipped, so the release is not tested:\n${skipped.join('\n')}`);
  return false;
}
