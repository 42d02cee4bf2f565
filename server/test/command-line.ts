import { Readable, Writable } from 'node:stream';

import type { CommandProcess } from '#server/cli/command-process.ts';
import { runCommandLine } from '#server/cli/program.ts';

import { inheritedVariables } from './inherited-variables.ts';

/** Exit code and output of a command. */
export interface CommandRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface RunOptions {
  /** The working directory. */
  readonly directory: string;
  /** The environment; nothing else is set. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The text on standard input. */
  readonly input?: string;
}

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs `latchkey` in this process, with streams, an environment and a working directory of its own. Runs follow one
 * another, since the environment and the directory belong to the process.
 */
export function runLatchkey(args: readonly string[], options: RunOptions): Promise<CommandRun> {
  const run = last.then(() => runAlone(args, options));
  last = run.catch(() => undefined);
  return run;
}

async function runAlone(args: readonly string[], options: RunOptions): Promise<CommandRun> {
  const [environment, directory] = [process.env, process.cwd()];
  const [stdout, stderr] = [new TextSink(), new TextSink()];
  const target: CommandProcess = { stdin: Readable.from([options.input ?? '']), stdout, stderr };
  process.env = { ...inheritedVariables(), LATCHKEY_PORT: '0', ...options.settings };
  process.chdir(options.directory);
  try {
    const code = await runCommandLine(args, target);
    return { code, stdout: stdout.text, stderr: stderr.text };
  } finally {
    process.chdir(directory);
    process.env = environment;
  }
}

class TextSink extends Writable {
  #decoder = new TextDecoder();
  text = '';

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += this.#decoder.decode(chunk, { stream: true });
    done();
  }
}
