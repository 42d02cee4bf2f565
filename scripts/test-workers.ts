/**
 * `npm run test:workers`: the tests of `serve --workers` and of REDIS_URL, and the races with two workers.
 * `npm run test:workers -- server/test/workers/supervisor.test.ts`: only these tests.
 * Installs Redis or Valkey when it is missing and this process is root on Debian.
 */
import { lacksRedis } from '../server/test/redis-server.ts';
import { installPackages } from './lib/install-packages.ts';
import { runTests } from './lib/run-tests.ts';
import { listenForStop } from './lib/stop-signals.ts';

/** Those that start `openDeployments` (server/test/races/deployments.ts) send their requests to two workers. */
const DEFAULT_SELECTION = ['server/test/workers', 'server/test/races'];

const stop = listenForStop();
const selection = process.argv.length > 2 ? process.argv.slice(2) : DEFAULT_SELECTION;
if (lacksRedis !== false) {
  // Without the packages of the servers, which start a service.
  await installPackages(['redis-tools', 'valkey-tools'], 'the tests of REDIS_URL', stop.signal);
}
process.env['LATCHKEY_TEST_WORKERS'] = '1';
const passed = !stop.signal.aborted && (await runTests(selection, stop.signal));
process.exitCode = stop.exitCode() ?? (passed ? 0 : 1);
