/**
 * `npm run test:workers`: the tests of `serve --workers`.
 * `npm run test:workers -- server/test/workers/supervisor.test.ts`: only these tests.
 */
import { runTests } from './lib/run-tests.ts';
import { listenForStop } from './lib/stop-signals.ts';

const stop = listenForStop();
const selection = process.argv.length > 2 ? process.argv.slice(2) : ['server/test/workers'];
const passed = await runTests(selection, stop.signal);
process.exitCode = stop.exitCode() ?? (passed ? 0 : 1);
