/** `npm run demo:fleet`: agents on this machine, some of them at fault, and the page that watches them. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

import { AgentFleet, VERBS } from '../../agent/test/fleet/agent-fleet.ts';
import { listenForStop } from '../lib/stop-signals.ts';
import { describeFleet } from './describe-fleet.ts';
import { FLEET_HELP, readFleetOptions } from './fleet-options.ts';
import { requireFreePorts } from './local/ports.ts';
import { UsageError } from './options.ts';

const USAGE_EXIT_CODE = 2;

try {
  const options = readFleetOptions(process.argv.slice(2));
  if (options === null) process.stdout.write(FLEET_HELP);
  else await run(options);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\nRun npm run demo:fleet -- --help for the options.\n`);
  process.exitCode = USAGE_EXIT_CODE;
}

async function run({ count, port }: { count: number; port: number }): Promise<void> {
  const stop = listenForStop();
  await requireFreePorts([port, port + 1]);
  await using fleet = await AgentFleet.start({ count, port, withFaults: true });
  await using door = await startDoor(port + 1, fleet.listUrl);
  process.stdout.write(describeFleet(fleet, door.address));
  const input = createInterface({ input: process.stdin });
  input.on('line', (line) => void obey(fleet, line.trim()));
  if (!stop.signal.aborted) await once(stop.signal, 'abort');
  input.close();
}

/** Serves a short address that leads to the page with its list. */
async function startDoor(
  port: number,
  address: string,
): Promise<AsyncDisposable & { readonly address: string }> {
  const server = createServer((_request, response) => {
    response.writeHead(302, { Location: address, 'Cache-Control': 'no-store' }).end();
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return {
    address: `http://127.0.0.1:${port}/`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Executes a line that a person typed, such as `reboot web-13`. */
async function obey(fleet: AgentFleet, line: string): Promise<void> {
  if (line === '') return;
  const [word, id = ''] = line.split(/\s+/);
  const verb = VERBS.find((each) => each === word);
  if (verb === undefined || !fleet.canAct(verb, id)) {
    process.stdout.write(`Not known: ${line}. Type one of ${VERBS.join(', ')}, and a machine.\n`);
    return;
  }
  await fleet.act(verb, id);
  process.stdout.write(`Done: ${line}\n`);
}
