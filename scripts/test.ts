/**
 * `npm test`: types, lint, format, the interface document, then the tests on one temporary PostgreSQL.
 * `npm run test:console`: only the tests of pages in Chromium, and of the demo; `npm test` leaves them out.
 * `npm run test:faults`: only the tests of killed, frozen and restarted programs, and of hostile texts; `npm test` leaves them out.
 * `npm test -- server/src/lib bench/x.test.ts --test-name-pattern=…`: only those tests.
 * LATCHKEY_TEST_DATABASE_URL sets a server to use instead of the temporary one.
 */
import { installChromium } from './lib/install-chromium.ts';
import { INTERFACE_CHECK, runSteps, SOURCE_CHECKS } from './lib/steps.ts';
import { listenForStop } from './lib/stop-signals.ts';
import { CONSOLE_TESTS, FAULT_TESTS, runTests } from './lib/run-tests.ts';

const USAGE = `Usage: npm test [-- PATH … OPTION …]

Without a path: types, lint, format, the interface document, then all tests but those of the commands below.
PATH     a test file, or a directory of them; the checks are left out
OPTION   an option of "node --test", such as --watch or --test-name-pattern=trial

Further tests: npm run test:console, test:faults, test:workers, test:clients, test:citus, test:release, test:systems.
docs/contributing/tests.md describes them.`;

const SUITES: Readonly<Record<string, readonly string[]>> = {
  '--console': CONSOLE_TESTS,
  '--faults': [FAULT_TESTS],
};

if (process.argv.includes('--help')) {
  console.log(USAGE);
  process.exit();
}

const stop = listenForStop();
const [first = '', ...others] = process.argv.slice(2);
const suite = SUITES[first];
const selection = suite === undefined ? process.argv.slice(2) : [...suite, ...others];

const checks = selection.length === 0 ? [...SOURCE_CHECKS, INTERFACE_CHECK] : [];
if (first === '--console') await installChromium(stop.signal);
const failed = await runSteps(checks, stop.signal);
const passed = !stop.signal.aborted && (await runTests(selection, stop.signal));

// The test runner prints the last lines, unless a check failed.
if (failed.length > 0) console.log(`\n✖ failed before the tests: ${failed.join(', ')}`);
process.exitCode = stop.exitCode() ?? (passed && failed.length === 0 ? 0 : 1);
