import { type ChildProcess, execFile, type ExecFileException } from 'node:child_process';

/** The outcome of a program. */
export interface ProgramResult {
  /** The exit code; null when the program was killed or could not be started, which `fault` explains. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The reason for a missing exit code, as a sentence; otherwise null. */
  readonly fault: string | null;
  /** Whether the program is not installed. */
  readonly isMissing: boolean;
}

export interface ProgramOptions {
  readonly timeoutMs?: number;
  /** Variables in addition to those of this process. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Its standard input; empty by default. */
  readonly input?: string;
  /** Whether it runs in its own session, so that Ctrl-C in the terminal does not reach it. */
  readonly hasOwnSession?: boolean;
}

/**
 * Runs a program to its end, without a shell. Injected, so that tests can replace programs. It never rejects: a missing or
 * hanging program is a result.
 */
export type RunProgram = (
  program: string,
  args: readonly string[],
  options?: ProgramOptions,
) => Promise<ProgramResult>;

const DEFAULT_TIMEOUT_MS = 30_000;

/** The time between SIGTERM and SIGKILL after a timeout. */
const GRACE_MS = 5_000;

/** `nginx -T` prints the whole configuration, and some have thousands of sites. */
const MAX_OUTPUT_BYTES = 32 * 1024 * 1024;

/** The directories of programs for administrators, which the caller's PATH may lack; certbot may be a snap. */
const SEARCH_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/snap/bin';

/** setsid's message for a missing program, in English because of LC_ALL. */
const NOT_FOUND = /^setsid: failed to execute .*: No such file or directory/u;

/** The time that a program may need to enter its new session. */
const START_MS = 1_000;

/** The signals that a terminal sends to all its programs. */
const TERMINAL_SIGNALS = new Set<unknown>(['SIGHUP', 'SIGINT', 'SIGQUIT']);

/** Runs programs of this machine in English, because their output is parsed, with limits on time and output. */
export const runProgram: RunProgram = (program, args, options = {}) => {
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const { promise, resolve } = Promise.withResolvers<ProgramResult>();
  const startedMs = performance.now();
  const [file, words] =
    options.hasOwnSession === true ? inOwnSession(program, args) : [program, args];
  const child = execFile(
    file,
    words,
    { env: buildEnvironment(options), timeout: timeoutMs, maxBuffer: MAX_OUTPUT_BYTES },
    (error, stdout, stderr) => {
      clearTimeout(last);
      const isLate = child.killed && error?.code !== 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER';
      const ended = explain(program, error, stderr, isLate ? timeoutMs : null);
      const wasHit = options.hasOwnSession === true && TERMINAL_SIGNALS.has(error?.signal);
      // The signal came before the program had its own session, and so before it did anything.
      if (wasHit && performance.now() - startedMs < START_MS)
        resolve(runProgram(program, args, options));
      else resolve({ stdout, stderr, ...ended });
    },
  );
  const last = setTimeout(() => child.kill('SIGKILL'), timeoutMs + GRACE_MS);
  writeInput(child, options.input ?? '');
  return promise;
};

/** Wraps a program in `setsid`, which executes it in the same process in a new session without a terminal. */
function inOwnSession(program: string, args: readonly string[]): [string, readonly string[]] {
  return ['setsid', ['--', program, ...args]];
}

/** Returns the directories that programs are searched in, in order. */
export function listSearchPath(): readonly string[] {
  return [process.env['PATH'] ?? '', SEARCH_PATH]
    .flatMap((path) => path.split(':'))
    .filter(Boolean);
}

function buildEnvironment({ environment }: ProgramOptions): Record<string, string | undefined> {
  const searchPath = listSearchPath().join(':');
  const settled = { PATH: searchPath, LC_ALL: 'C', LANGUAGE: 'C' };
  return { ...process.env, ...settled, DEBIAN_FRONTEND: 'noninteractive', ...environment };
}

function writeInput({ stdin }: ChildProcess, input: string): void {
  // A program may end without reading its input; its exit code shows whether it failed.
  stdin?.on('error', () => undefined);
  stdin?.end(input);
}

function explain(
  program: string,
  error: ExecFileException | null,
  stderr: string,
  lateMs: number | null,
): Pick<ProgramResult, 'code' | 'fault' | 'isMissing'> {
  if (error === null) return { code: 0, fault: null, isMissing: false };
  if (error.code === 'ENOENT' || NOT_FOUND.test(stderr))
    return { code: null, fault: `${program} is not on this machine.`, isMissing: true };
  if (typeof error.code === 'number' && lateMs === null)
    return { code: error.code, fault: null, isMissing: false };
  return { code: null, fault: describeFault(program, error, lateMs), isMissing: false };
}

function describeFault(program: string, error: ExecFileException, lateMs: number | null): string {
  if (lateMs !== null) return `${program} did not end within ${lateMs / 1000} seconds.`;
  if (error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return `${program} printed too much.`;
  if (error.signal != null) return `${program} was ended by ${error.signal}.`;
  return `${program} could not be started: ${error.message}.`;
}

/** Access to the inspected machine. */
export interface Detection {
  /** The prefix of every path: empty, except in tests, where it contains no link. */
  readonly root: string;
  readonly runProgram: RunProgram;
}
