import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** The exit code of `flock` when another process holds the lock. */
const CONFLICT = 75;

/** A file lock was not acquired. */
export class LockError extends Error {
  /** Whether another process holds the lock. */
  readonly isHeld: boolean;

  constructor(message: string, isHeld: boolean, options?: ErrorOptions) {
    super(message, options);
    this.name = 'LockError';
    this.isHeld = isHeld;
  }
}

/**
 * Runs `work` while this process holds an exclusive lock on a file. The lock belongs to a child process that ends whenever this
 * process ends, so that no stale lock remains.
 * @param path a file in an existing directory; created when it is missing
 * @param waitSeconds the timeout for another holder; 0 fails at once
 * @throws LockError when the lock is held or `flock` fails
 */
export async function withFileLock<T>(
  path: string,
  work: () => Promise<T>,
  waitSeconds = 0,
): Promise<T> {
  const wait = waitSeconds === 0 ? ['--nonblock'] : ['--wait', String(waitSeconds)];
  const args = [...wait, '--conflict-exit-code', String(CONFLICT), path];
  // A session of its own, so that Ctrl-C does not release the lock before the work has been undone.
  const holder = spawn('flock', [...args, 'sh', '-c', 'echo locked; exec cat >/dev/null'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  });
  const ended = new Promise<void>((resolve) => holder.once('close', () => resolve()));
  let startError: Error | null = null;
  holder.once('error', (error) => (startError = error));
  const isLocked = await Promise.race([
    once(holder.stdout, 'data').then(() => true),
    ended.then(() => false),
  ]);
  if (!isLocked) throw describeFailure(path, holder.exitCode, startError);
  try {
    return await work();
  } finally {
    holder.stdin.end();
    await ended;
  }
}

function describeFailure(path: string, exitCode: number | null, cause: Error | null): LockError {
  if (exitCode === CONFLICT) return new LockError(`Another process holds the lock ${path}.`, true);
  if (cause === null) return new LockError(`The lock ${path} could not be acquired.`, false);
  const message = 'flock cannot be started: install the package util-linux.';
  return new LockError(message, false, { cause });
}
