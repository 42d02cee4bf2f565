import { parseArgs } from 'node:util';

import { ALL_FAULTS } from './faults/all-faults.ts';
import type { Fault } from './faults/fault.ts';

export interface SoakOptions {
  readonly machines: number;
  readonly minutes: number;
  readonly faults: readonly Fault[];
  /** How long the cause of a fault lasts, if the fault does not set it. */
  readonly faultSeconds: number;
  /** The number of `latchkey serve --workers`; null: one process without a supervisor. */
  readonly workers: number | null;
  /** Where the report is written; null: a directory for this run. */
  readonly out: string | null;
}

/** A wrong argument; the message is a sentence for the user. */
export class UsageError extends Error {}

const LARGE = { machines: 200_000, minutes: 20, faultSeconds: 10 };
const SMALL = { machines: 2_000, minutes: 2.2, faultSeconds: 3 };

/** The fewest with which one can be killed while another one answers. */
const WORKERS_WITH_FAULTS = 2;

export const HELP = `Run a simulated day of many machines against the service, and prove that it loses nothing.

Usage: npm run soak -- [options]

It starts an own service with an own database in a temporary directory, activates the machines, and sends a day of requests
in some minutes: start-up peaks, validations for every trigger, heartbeats, events, trials, a sale with its payments, mails,
lists and reports. Then it compares everything that the service acknowledged with the database, and writes a report.

Options:
  --machines N   activated machines: 100 to 1000000 (default: 200000)
  --minutes N    duration of the day: 0.5 to 1440 (default: 20)
  --faults       cause faults during the day: processes killed, disk full, connections cut, …
  --fault NAME   cause only this fault; can be repeated
  --workers N    run the service with N workers, up to 64; 0: without (default: ${WORKERS_WITH_FAULTS} with faults, else 0)
  --small        the size for continuous integration: ${SMALL.machines} machines in ${SMALL.minutes} minutes, 3 minutes in all
  --out DIR      directory of the report (default: soak/results/<time>)
  --year         simulate a year of a shop instead, and compare its books with the database
  --buyers N     of the year: 10 to 100000 (default: 5000)
  --seed N       of the year: the same number leads to the same year (default: 1)
  --help         print this help

Faults:
${ALL_FAULTS.map(({ name }) => `  ${name}\n`).join('')}
Some faults need root, or programs of Debian (e2fsprogs, libfaketime, util-linux). Without them they are skipped, with the reason.

Examples:
  npm run soak                                    200,000 machines in 20 minutes, without faults
  npm run soak -- --faults                        the same with ${WORKERS_WITH_FAULTS} workers, and each fault twice
  npm run soak -- --small --faults                in 3 minutes
  npm run soak -- --small --faults --workers 0    the same in one process, without the faults of workers
  npm run soak -- --minutes 1440 --faults         a day that takes a day
  npm run soak -- --small --fault 'disk full'     one fault
  npm run soak -- --year                          a year of a shop with 5,000 buyers

The exit code is 0 if every promise was kept, 1 if one was broken, with a sentence for each, and 3 if none was broken but more than
5 % of the planned requests were not sent, since the machine is too slow for the day.
`;

/** Reads the arguments. Null: help was requested. @throws UsageError */
export function readOptions(args: readonly string[]): SoakOptions | null {
  const values = parse(args);
  if (values.help) return null;
  const size = values.small ? SMALL : LARGE;
  const faults = readFaults(values.faults, values.fault);
  const workersByDefault = faults.length > 0 ? WORKERS_WITH_FAULTS : 0;
  const workers = readNumber('workers', values.workers, workersByDefault, [0, 64], true);
  return {
    machines: readNumber('machines', values.machines, size.machines, [100, 1_000_000], true),
    minutes: readNumber('minutes', values.minutes, size.minutes, [0.5, 1_440], false),
    faults,
    faultSeconds: size.faultSeconds,
    workers: workers === 0 ? null : workers,
    out: values.out ?? null,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        machines: { type: 'string' },
        minutes: { type: 'string' },
        faults: { type: 'boolean', default: false },
        fault: { type: 'string', multiple: true, default: [] },
        workers: { type: 'string' },
        small: { type: 'boolean', default: false },
        out: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** Reads a number within limits. @throws UsageError */
export function readNumber(
  name: string,
  text: string | undefined,
  byDefault: number,
  [min, max]: readonly [number, number],
  isWhole: boolean,
): number {
  if (text === undefined) return byDefault;
  const number = text.trim() === '' ? Number.NaN : Number(text);
  const isInRange = number >= min && number <= max;
  if (isInRange && (!isWhole || Number.isInteger(number))) return number;
  throw new UsageError(
    `--${name} must be a ${isWhole ? 'whole ' : ''}number from ${min} to ${max}.`,
  );
}

function readFaults(all: boolean, names: readonly string[]): readonly Fault[] {
  const unknown = names.find((name) => ALL_FAULTS.every((fault) => fault.name !== name));
  if (unknown !== undefined) {
    throw new UsageError(
      `There is no fault "${unknown}". Run npm run soak -- --help for their names.`,
    );
  }
  if (names.length > 0) return ALL_FAULTS.filter(({ name }) => names.includes(name));
  return all ? ALL_FAULTS : [];
}
