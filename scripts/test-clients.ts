/**
 * `npm run test:clients`: the tests of the client libraries, then the conformance scenes with each of them.
 * `npm run test:clients -- --client python --scene refund`: only these scenes; the options are those of
 * `clients/conformance/run.ts`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

import { findMissingProgram, listClients } from '../clients/conformance/driver/clients.ts';
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

const stop = listenForStop();
const options = process.argv.slice(2);
for (const client of listClients(clients)) {
  const missing = findMissingProgram(client);
  if (missing !== null) console.log(`${client.name}: skipped: ${missing}`);
}
const passed = options.length > 0 || (await runTests(['clients'], stop.signal));
const conforms = !stop.signal.aborted && (await playScenes(options));
process.exitCode = stop.exitCode() ?? (passed && conforms ? 0 : 1);
