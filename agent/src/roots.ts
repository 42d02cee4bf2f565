import { join } from 'node:path';

/** Where the files of the machine lie: its own, or a tree of files that stands for another machine. */
export interface Roots {
  readonly proc: string;
  readonly sys: string;
  readonly etc: string;
  readonly run: string;
  readonly dev: string;
}

/** The machine that this program runs on. */
export const machineRoots: Roots = {
  proc: '/proc',
  sys: '/sys',
  etc: '/etc',
  run: '/run',
  dev: '/dev',
};

/** A machine whose files lie below a directory, in `proc`, `sys`, `etc`, `run` and `dev`. */
export function rootsBelow(directory: string): Roots {
  return {
    proc: join(directory, 'proc'),
    sys: join(directory, 'sys'),
    etc: join(directory, 'etc'),
    run: join(directory, 'run'),
    dev: join(directory, 'dev'),
  };
}
