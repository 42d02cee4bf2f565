/**
 * `npm run test:workers`: the tests of `serve --workers` and of REDIS_URL, and the races with two workers.
 * `npm run test:workers -- server/test/workers/supervisor.test.ts`: only these tests.
 * Installs Redis or Valkey when it is missing and this process is root on Debian.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { lacksRedis } from '../server/test/redis-server.ts';
import { lacksWorkers } from '../server/test/workers/lacks-workers.ts';
import { installPackages } from './lib/install-packages.ts';
import { runTests } from './lib/run-tests.ts';
import { repository } from './lib/steps.ts';
import { listenForStop } from './lib/stop-signals.ts';

const WORKER_TESTS = 'server/test/workers';
const RACES = 'server/test/races';

/** Lists the races that send their requests to two workers here; the others do the same as in `npm test`. */
async function listRacesOfWorkers(): Promise<string[]> {
  const names = await readdir(join(repository, RACES));
  const files = names.filter((name) => name.endsWith('.test.ts')).map((name) => join(RACES, name));
  const texts = await Promise.all(files.map((file) => readFile(join(repository, file), 'utf8')));
  return files.filter((_file, index) => texts[index]?.includes('openDeployments('));
}

const stop = listenForStop();
const chosen = process.argv.slice(2);
const selection = chosen.length > 0 ? chosen : [WORKER_TESTS, ...(await listRacesOfWorkers())];
if (lacksRedis !== false) {
  // Without the packages of the servers, which start a service.
  await installPackages(['redis-tools', 'valkey-tools'], 'the tests of REDIS_URL', stop.signal);
}
if (lacksWorkers !== false) console.log(`The races do not run with workers: ${lacksWorkers}.`);
process.env['LATCHKEY_TEST_WORKERS'] = '1';
const passed = !stop.signal.aborted && (await runTests(selection, stop.signal));
process.exitCode = stop.exitCode() ?? (passed ? 0 : 1);
