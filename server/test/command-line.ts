import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

/** What a run of the command line came to. */
export interface CommandRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));

/**
 * Runs `latchkey` as a process of its own, with no settings but these, in a directory of its own.
 * @param options.input what it reads on standard input
 */
export async function runLatchkey(
  args: readonly string[],
  options: {
    readonly directory: string;
    readonly settings?: Readonly<Record<string, string>>;
    readonly input?: string;
  },
): Promise<CommandRun> {
  const env = { ...inheritedVariables(), LATCHKEY_PORT: '0', ...options.settings };
  const child = spawn(process.execPath, [main, ...args], { cwd: options.directory, env });
  const closed = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  // A command that does not read its input may be gone before it is written.
  child.stdin.on('error', () => {}).end(options.input ?? '');
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    closed,
  ]);
  return { code, stdout, stderr };
}

/** What a program of a test takes over from it: the way to programs, and the modules that are compiled already. */
export function inheritedVariables(): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return { PATH, ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }) };
}
