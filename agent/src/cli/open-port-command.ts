import { Command, InvalidArgumentError } from 'commander';

import { openNftPort } from '../install/apply/nftables.ts';
import { runProgram } from '../install/run-program.ts';
import { withExamples } from './output.ts';

/** `latchkey-agent open-port`, which the unit latchkey-agent-port@.service runs. Not in the help: --open-firewall sets it up. */
export function openPortCommand(): Command {
  const command = new Command('open-port')
    .description('Open a port in nftables, unless it is open already; for root.')
    .argument('<port>', 'the TCP port, 1 to 65535', readPort)
    .action(async (port: number) => {
      await openNftPort(port, { root: '', ownerId: 0, runProgram });
    });
  return withExamples(command, [['open-port 4096', 'At each start, by its unit']]);
}

function readPort(text: string): number {
  const port = /^\d{1,5}$/u.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= 65_535) return port;
  throw new InvalidArgumentError('It must be a number from 1 to 65535.');
}
