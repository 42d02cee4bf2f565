import { spawn } from 'node:child_process';
import { once } from 'node:events';

const CONFLICT = 75;

/**
 * Works while no other process installs on this machine. The kernel ends the lock with the process, however that ends.
 * @throws Error when another one has it
 */
export async function whileAlone<T>(path: string, work: () => Promise<T>): Promise<T> {
  const args = ['--nonblock', '--conflict-exit-code', `${CONFLICT}`, path];
  // `cat` reads until this process is gone; in a session of its own, Ctrl-C does not end it before the undoing has.
  const holder = spawn('flock', [...args, 'sh', '-c', 'echo locked; exec cat >/dev/null'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  });
  const ended = once(holder, 'close');
  const isLocked = await Promise.race([
    once(holder.stdout, 'data').then(() => true),
    ended.then(() => false),
  ]);
  if (!isLocked && holder.exitCode === CONFLICT) {
    throw new Error('Another installation is running on this machine: wait until it has ended.');
  }
  if (!isLocked) throw new Error(`The lock ${path} could not be taken.`);
  try {
    return await work();
  } finally {
    holder.stdin.end();
    await ended;
  }
}
