/**
 * `npm run test:citus`: the tests of the server on a Citus cluster, with events spread over two workers, then with usage, too.
 * `npm run test:citus -- server/src/features/analytics`: only these tests.
 * Without Citus it prints what is missing.
 */
import { lacksCitus } from '../server/test/citus-cluster.ts';
import { LAYOUT_VARIABLE } from '../server/test/test-cluster.ts';
import { runTests } from './lib/run-tests.ts';
import { listenForStop } from './lib/stop-signals.ts';

const stop = listenForStop();
const selection = process.argv.length > 2 ? process.argv.slice(2) : ['server'];

let passed = true;
if (lacksCitus !== false) console.log(`The tests on Citus are skipped: ${lacksCitus}.`);
else {
  for (const layout of ['events', 'usage']) {
    console.log(`\nLayout: ${layout}`);
    process.env[LAYOUT_VARIABLE] = layout;
    passed = !stop.signal.aborted && (await runTests(selection, stop.signal)) && passed;
  }
}
process.exitCode = stop.exitCode() ?? (passed ? 0 : 1);
