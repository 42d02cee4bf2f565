import { AsyncLocalStorage } from 'node:async_hooks';
import type { Readable, Writable } from 'node:stream';

type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** The streams and the exit code of a command. */
export interface CommandProcess {
  readonly stdin: Readable;
  readonly stdout: Output;
  readonly stderr: Output;
  exitCode?: typeof process.exitCode;
}

const current = new AsyncLocalStorage<CommandProcess>();

/** Runs work with other streams than those of the process. */
export function runIn<T>(target: CommandProcess, work: () => Promise<T>): Promise<T> {
  return current.run(target, work);
}

/** The streams and the exit code of the running command: those of the process, unless a test replaces them. */
export function commandProcess(): CommandProcess {
  return current.getStore() ?? process;
}
