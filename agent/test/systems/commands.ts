import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** The outcome of a program. */
export interface Outcome {
  readonly command: string;
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly seconds: number;
}

interface RunOptions {
  /** The time after which it is killed. */
  readonly timeoutMs?: number;
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string;
  /** Receives each part of its output. */
  readonly onOutput?: (text: string) => void;
}

const TIMEOUT_MS = 60_000;

/** The end of a failed program's output explains the failure. */
const KEPT_CHARACTERS = 4000;

/** Runs a program to its end, whatever its exit code. */
export async function attempt(
  command: readonly string[],
  { timeoutMs = TIMEOUT_MS, env = process.env, input = '', onOutput }: RunOptions = {},
): Promise<Outcome> {
  const startedAt = performance.now();
  const [program = '', ...args] = command;
  const child = spawn(program, args, { env, timeout: timeoutMs, killSignal: 'SIGKILL' });
  const output = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      output[stream] += text;
      onOutput?.(text);
    });
  }
  // A program may end without reading its input; its exit code shows whether it failed.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const [code]: unknown[] = await once(child, 'close');
  const seconds = (performance.now() - startedAt) / 1000;
  return {
    command: command.join(' '),
    code: typeof code === 'number' ? code : null,
    ...output,
    seconds,
  };
}

/**
 * Runs a program that must succeed.
 * @returns its standard output
 * @throws Error with the end of its output
 */
export async function succeed(command: readonly string[], options?: RunOptions): Promise<string> {
  return expectSuccess(await attempt(command, options)).stdout;
}

/**
 * @throws Error with the end of its output, when it failed
 */
export function expectSuccess(outcome: Outcome): Outcome {
  if (outcome.code === 0) return outcome;
  const { command, code, stdout, stderr } = outcome;
  const [printed, errors] = [stdout, stderr].map((text) => text.slice(-KEPT_CHARACTERS));
  throw new Error(`${command}\nended with ${code}:\n${printed}\n${errors}`);
}
