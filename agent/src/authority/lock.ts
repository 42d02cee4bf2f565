import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';

import { AuthorityError } from './authority-error.ts';

const WAIT_SECONDS = 60;

/** What `flock` ends with when the time is over. */
const LATE_EXIT_CODE = 75;

/**
 * Waits until no other command uses the authority, and keeps others out meanwhile. The kernel holds the lock for a `cat` that
 * ends with this process, however that ends: nothing stale can stay behind.
 * @param path a file in a directory that is there
 * @throws AuthorityError when the other one takes longer than a minute
 */
export async function whileLocked<T>(
  path: string,
  use: () => Promise<T>,
  waitSeconds = WAIT_SECONDS,
): Promise<T> {
  const limits = ['--wait', `${waitSeconds}`, '--conflict-exit-code', `${LATE_EXIT_CODE}`];
  const child = spawn('flock', [...limits, '--no-fork', path, 'cat']);
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  await waitForEcho(child, waitSeconds);
  try {
    return await use();
  } finally {
    child.stdin.end();
    await ended;
  }
}

/** What `cat` gives back says that it runs, and it runs when the lock is there. */
async function waitForEcho(
  child: ChildProcessWithoutNullStreams,
  waitSeconds: number,
): Promise<void> {
  let problem = '';
  child.stderr.on('data', (chunk: Buffer) => (problem += chunk.toString()));
  // Its end is told by its exit code.
  child.stdin.on('error', () => undefined);
  child.stdin.write('\n');
  await new Promise<void>((resolve, reject) => {
    child.stdout.once('data', () => resolve());
    child.once('error', (error) => reject(explainStart(error)));
    child.once('close', (code) => reject(explainEnd(code, problem, waitSeconds)));
  });
}

function explainStart(error: Error): AuthorityError {
  const message = 'flock cannot be started: install the package util-linux.';
  return new AuthorityError(message, { cause: error });
}

function explainEnd(code: number | null, problem: string, waitSeconds: number): AuthorityError {
  if (code !== LATE_EXIT_CODE) return new AuthorityError(`flock failed: ${problem.trim()}.`);
  return new AuthorityError(
    `Another command has been using the authority for ${waitSeconds} seconds: try again later.`,
  );
}
