import { parseArgs } from 'node:util';

export interface DemoOptions {
  readonly port: number;
  readonly licenses: number;
  readonly seed: string;
  /** A directory that stays; null: a temporary one, removed at the end. */
  readonly keep: string | null;
}

/** A wrong argument; the message is a sentence for the user. */
export class UsageError extends Error {}

export const HELP = `Run a service with the data of an invented vendor, to try the console.

Usage: npm run demo -- [options]

It starts an own service with an own database in a temporary directory, fills it with three products, thousands of
licenses and 90 days of use, and prints the address and the passwords. Ctrl-C stops it and removes everything.
It reads no settings and no data of your installation, and connects to nothing outside of this machine.

Options:
  --licenses N   licenses, trials included: 300 to 200000 (default: 5000)
  --port N       port of the service (default: 4480); the next one receives its webhooks
  --seed TEXT    other people and figures (default: contour)
  --keep DIR     store the data in DIR and keep it; the next start with it continues
  --help         print this help

Examples:
  npm run demo                                  5,000 licenses on http://127.0.0.1:4480/console
  npm run demo -- --licenses 50000              a larger vendor; takes some minutes
  npm run demo -- --keep /tmp/contour           data that stays after Ctrl-C
  npm run demo -- --port 9000 --seed harbour    another port, other people
`;

/** Reads the arguments. Null: help was requested. @throws UsageError */
export function readOptions(args: readonly string[]): DemoOptions | null {
  const { values } = parse(args);
  if (values.help) return null;
  return {
    licenses: readNumber('licenses', values.licenses, 300, 200_000),
    port: readNumber('port', values.port, 1_024, 65_534),
    seed: values.seed,
    keep: values.keep ?? null,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        licenses: { type: 'string', default: '5000' },
        port: { type: 'string', default: '4480' },
        seed: { type: 'string', default: 'contour' },
        keep: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** Reads a whole number of an option. @throws UsageError */
export function readNumber(name: string, text: string, min: number, max: number): number {
  const number = Number(text);
  if (Number.isInteger(number) && number >= min && number <= max) return number;
  throw new UsageError(`--${name} must be a whole number from ${min} to ${max}.`);
}
