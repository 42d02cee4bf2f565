import type { RunProgram } from '../run-program.ts';

/** What the machine is looked at through. */
export interface Detection {
  /** What stands before every path: nothing, but in tests, where no link may be in it. */
  readonly root: string;
  readonly runProgram: RunProgram;
}
