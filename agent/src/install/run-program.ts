import { type ChildProcess, execFile, type ExecFileException } from 'node:child_process';

/** How a program ended. */
export interface ProgramResult {
  /** Its exit code; null when it did not end by itself, which `fault` says why. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Why there is no exit code, as a sentence; null when there is one. */
  readonly fault: string | null;
  /** Whether there is no such program on this machine. */
  readonly isMissing: boolean;
}

export interface ProgramOptions {
  /** In milliseconds. */
  readonly timeoutMs?: number;
  /** Variables beside those that this program has itself. */
  readonly environment?: Readonly<Record<string, string>>;
  /** What it reads from standard input; nothing when left out. */
  readonly input?: string;
  /** Whether it must come to its end: Ctrl-C, which goes to every program of a terminal, does not reach it. */
  readonly isShielded?: boolean;
}

/**
 * Runs a program to its end, without a shell. Passed in wherever programs are run, so that tests can answer for them.
 * It never rejects: a program that is missing or hangs is a result, too.
 */
export type RunProgram = (
  program: string,
  args: readonly string[],
  options?: ProgramOptions,
) => Promise<ProgramResult>;

const DEFAULT_TIMEOUT_MS = 30_000;

/** After its time a program is asked to end, and so much later it is ended. */
const GRACE_MS = 5_000;

/** `nginx -T` prints all of a configuration, and some have thousands of sites. */
const MAX_OUTPUT_BYTES = 32 * 1024 * 1024;

/** What root finds on every distribution, also when the caller's own path lacks it; certbot may be a snap. */
const SEARCH_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/snap/bin';

/** What `setsid` says where there is no such program; the text is its own, for it speaks English here. */
const NOT_FOUND = /^setsid: failed to execute .*: No such file or directory/u;

/** Within this time a program may still be on its way into a session of its own. */
const START_MS = 1_000;

/** What a terminal sends to every program that belongs to it. */
const TERMINAL_SIGNALS = new Set<unknown>(['SIGHUP', 'SIGINT', 'SIGQUIT']);

/** Runs programs of this machine: in English, since what they say is read, and with limits on time and output. */
export const runProgram: RunProgram = (program, args, options = {}) => {
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const { promise, resolve } = Promise.withResolvers<ProgramResult>();
  const startedMs = performance.now();
  const [file, words] = options.isShielded === true ? shield(program, args) : [program, args];
  const child = execFile(
    file,
    words,
    { env: buildEnvironment(options), timeout: timeoutMs, maxBuffer: MAX_OUTPUT_BYTES },
    (error, stdout, stderr) => {
      clearTimeout(last);
      const isLate = child.killed && error?.code !== 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER';
      const ended = explain(program, error, stderr, isLate ? timeoutMs : null);
      const wasHit = options.isShielded === true && TERMINAL_SIGNALS.has(error?.signal);
      // Before it was shielded: it has done nothing yet.
      if (wasHit && performance.now() - startedMs < START_MS)
        resolve(runProgram(program, args, options));
      else resolve({ stdout, stderr, ...ended });
    },
  );
  const last = setTimeout(() => child.kill('SIGKILL'), timeoutMs + GRACE_MS);
  writeInput(child, options.input ?? '');
  return promise;
};

/** In a session of its own it belongs to no terminal. `setsid` becomes the program itself, as the same process. */
function shield(program: string, args: readonly string[]): [string, readonly string[]] {
  return ['setsid', ['--', program, ...args]];
}

/** The directories in which programs are looked for, the first ones first. */
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
  // A program that ends without reading its input is no failure: its exit code says how it went.
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

/** What the machine is looked at through. */
export interface Detection {
  /** What stands before every path: nothing, but in tests, where no link may be in it. */
  readonly root: string;
  readonly runProgram: RunProgram;
}
