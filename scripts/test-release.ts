/**
 * `npm run test:release`: installs what `npm run release` builds, on booted systems and with the oldest Node.js; `npm test`
 * leaves these tests out. A skipped test fails it, because it decides whether a release is published.
 *
 * - `-- --if-possible` accepts skipped tests, whose requirements are missing here.
 * - `-- --minutes=20` starts no test file after 20 minutes, and lists those that did not run.
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
  options: {
    'if-possible': { type: 'boolean', default: false },
    minutes: { type: 'string', default: '1440' },
  },
});
const deadline = performance.now() + Number(options.minutes) * 60_000;
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

/** The outcome of test files. */
interface Outcome {
  readonly isPassed: boolean;
  /** Each with its reason. */
  readonly skipped: readonly string[];
}

/**
 * Runs the files in turn, since machines that boot at the same time slow each other down.
 * @returns whether all passed, and none was skipped that must not be
 */
async function runTestFiles(): Promise<boolean> {
  process.env['LATCHKEY_SYSTEMS'] = 'all';
  const outcomes: Outcome[] = [];
  const left = files.values();
  for (const file of left) {
    outcomes.push(await runTestFile(file));
    if (stop.signal.aborted || performance.now() > deadline) break;
  }
  const notRun = [...left];
  if (notRun.length > 0) console.log(`Did not run in time: ${notRun.join(', ')}`);
  const isPassed = outcomes.every((outcome) => outcome.isPassed);
  const skipped = [...outcomes.flatMap((outcome) => outcome.skipped), ...notRun];
  if (skipped.length === 0 || options['if-possible']) return isPassed;
  console.log(`\n✖ These tests were skipped, so the release is not tested:\n${skipped.join('\n')}`);
  return false;
}

async function runTestFile(file: string): Promise<Outcome> {
  const events = run({
    files: [resolve(repository, file)],
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
  return { isPassed, skipped };
}
