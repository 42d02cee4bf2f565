import { join } from 'node:path';

/** Where /proc, /sys and so on are: those of this machine, or a tree of files that represents another one. */
export interface Roots {
  readonly proc: string;
  readonly sys: string;
  readonly etc: string;
  readonly run: string;
  readonly dev: string;
}

/** This machine. */
export const machineRoots: Roots = {
  proc: '/proc',
  sys: '/sys',
  etc: '/etc',
  run: '/run',
  dev: '/dev',
};

/** A machine represented by `proc`, `sys`, `etc`, `run` and `dev` below a directory. */
export function rootsBelow(directory: string): Roots {
  return {
    proc: join(directory, 'proc'),
    sys: join(directory, 'sys'),
    etc: join(directory, 'etc'),
    run: join(directory, 'run'),
    dev: join(directory, 'dev'),
  };
}
