/**
 * `npm run test:clients`: the tests of the client libraries, those in their own languages, then the conformance scenes with each
 * of them.
 * `npm run test:clients -- --client python`: the tests in the language of a client, and its scenes.
 * `npm run test:clients -- --client python --scene refund`: only these scenes; the options are those of
 * `clients/conformance/run.ts`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

import {
  findMissingNeed,
  listClients,
  type ClientUnderTest,
} from '../clients/conformance/driver/clients.ts';
import { runClientTests } from './lib/client-tests.ts';
import { runTests } from './lib/run-tests.ts';
import { repository } from './lib/steps.ts';
import { listenForStop } from './lib/stop-signals.ts';

const clients = join(repository, 'clients');
const conformance = join(clients, 'conformance', 'run.ts');

/** Plays the scenes; the processes of the terminal get its signals. */
async function playScenes(options: readonly string[]): Promise<boolean> {
  const child = spawn(process.execPath, [conformance, ...options], { stdio: 'inherit' });
  const [code]: unknown[] = await once(child, 'exit');
  return code === 0;
}

/** Returns the clients whose own tests were requested: all, those of `--client`, or none with other options. */
function selectClients(all: readonly ClientUnderTest[], options: readonly string[]) {
  const names = options.filter((_, index) => options[index - 1] === '--client');
  const hasOthers = options.length !== 2 * names.length;
  if (hasOthers) return [];
  return options.length === 0 ? all : all.filter(({ name }) => names.includes(name));
}

const stop = listenForStop();
const options = process.argv.slice(2);
const all = listClients(clients);
for (const client of all) {
  const missing = findMissingNeed(client);
  if (missing !== null) console.log(`${client.name}: skipped: ${missing}`);
}
const passed = options.length > 0 || (await runTests(['clients'], stop.signal));
const passedOwn = await runClientTests(selectClients(all, options), stop.signal);
const conforms = !stop.signal.aborted && (await playScenes(options));
process.exitCode = stop.exitCode() ?? (passed && passedOwn && conforms ? 0 : 1);
