import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** How a program ended, and what it said. */
export interface Outcome {
  readonly command: string;
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly seconds: number;
}

interface RunOptions {
  /** After this it is killed. */
  readonly timeoutMs?: number;
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string;
  /** Gets each piece of its output as it comes. */
  readonly onOutput?: (text: string) => void;
}

const TIMEOUT_MS = 60_000;

/** Of what a program said before it failed, the end is what tells why. */
const KEPT_CHARACTERS = 4000;

/** Runs a program to its end, whatever its exit code. */
export async function attempt(
  command: readonly string[],
  { timeoutMs = TIMEOUT_MS, env = process.env, input = '', onOutput }: RunOptions = {},
): Promise<Outcome> {
  const startedAt = performance.now();
  const [program = '', ...args] = command;
  const child = spawn(program, args, { env, timeout: timeoutMs, killSignal: 'SIGKILL' });
  const said = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      said[stream] += text;
      onOutput?.(text);
    });
  }
  // A program that ends without reading what it is told is judged by its exit code.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const [code]: unknown[] = await once(child, 'close');
  const seconds = (performance.now() - startedAt) / 1000;
  return {
    command: command.join(' '),
    code: typeof code === 'number' ? code : null,
    ...said,
    seconds,
  };
}

/**
 * Runs a program that must succeed.
 * @returns what it wrote to its standard output
 * @throws Error with the end of what it said
 */
export async function succeed(command: readonly string[], options?: RunOptions): Promise<string> {
  return expectSuccess(await attempt(command, options)).stdout;
}

/** @throws Error with the end of what it said, when it failed */
export function expectSuccess(outcome: Outcome): Outcome {
  if (outcome.code === 0) return outcome;
  const { command, code, stdout, stderr } = outcome;
  const [said, complained] = [stdout, stderr].map((text) => text.slice(-KEPT_CHARACTERS));
  throw new Error(`${command}\nended with ${code}:\n${said}\n${complained}`);
}
