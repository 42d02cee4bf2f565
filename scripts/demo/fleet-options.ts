import { parseArgs } from 'node:util';

import { readNumber, UsageError } from './options.ts';

/** What a demo of the fleet page runs. */
export interface FleetDemoOptions {
  readonly count: number;
  readonly port: number;
}

export const FLEET_HELP = `Run many agents on this machine, to try the page that watches many machines.

Usage: npm run demo:fleet -- [options]

The agents listen on 127.0.1.1, 127.0.1.2 and so on, with invented machines behind them. Some are at fault: one hangs, one has
a certificate that no browser trusts, one does not allow the page. Lines that you type freeze, stop or reboot others while the
page watches. Ctrl-C stops everything.

Options:
  --count N   agents: 40 to 250 (default: 100)
  --port N    port of the agents (default: 4096); the next one serves a short address of the page
  --help      print this help
`;

const MIN_COUNT = 40;
const MAX_COUNT = 250;

/** Reads the arguments. Null: help was requested. @throws UsageError */
export function readFleetOptions(args: readonly string[]): FleetDemoOptions | null {
  const { values } = parse(args);
  if (values.help) return null;
  return {
    count: readNumber('count', values.count, MIN_COUNT, MAX_COUNT),
    port: readNumber('port', values.port, 1024, 65_534),
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        count: { type: 'string', default: '100' },
        port: { type: 'string', default: '4096' },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
