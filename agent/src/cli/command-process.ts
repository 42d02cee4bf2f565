import { AsyncLocalStorage } from 'node:async_hooks';
import type { Writable } from 'node:stream';

/** The output and the exit code of a command. */
export interface CommandProcess {
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable & { readonly isTTY?: boolean };
  exitCode?: typeof process.exitCode;
}

const current = new AsyncLocalStorage<CommandProcess>();

/** Runs work with another output than that of the process. */
export function runIn<T>(target: CommandProcess, work: () => Promise<T>): Promise<T> {
  return target === process ? work() : current.run(target, work);
}

/** The output and the exit code of the running command: those of the process, unless a test replaces them. */
export function commandProcess(): CommandProcess {
  return current.getStore() ?? process;
}
