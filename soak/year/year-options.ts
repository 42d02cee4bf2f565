import { parseArgs } from 'node:util';

import { readNumber, UsageError } from '../options.ts';
import type { YearOptions } from './run-year.ts';

/** Reads the arguments of a simulated year; null: another run was requested. @throws UsageError */
export function readYearOptions(args: readonly string[]): YearOptions | null {
  if (!args.includes('--year') || args.includes('--help')) return null;
  const { buyers, seed } = parse(args);
  return {
    buyers: readNumber('buyers', buyers, 5_000, [10, 100_000], true),
    seed: readNumber('seed', seed, 1, [0, 4_294_967_295], true),
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        year: { type: 'boolean', default: false },
        buyers: { type: 'string' },
        seed: { type: 'string' },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
