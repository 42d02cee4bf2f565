import { spawn } from 'node:child_process';
import { constants } from 'node:os';

const FORWARDED_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Runs a program on the terminal of this process, passes signals on, and waits for its end.
 * @param {string} command
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions} options
 * @param {(child: import('node:child_process').ChildProcess) => void} [started]
 * @returns {Promise<{ code: number, stopCode: number | null }>} its exit code, or 128 + the number of the signal that
 *   ended it; and 128 + the number of a signal that was passed on, whatever its effect
 */
export function runChild(command, args, options, started = () => {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: 'inherit', ...options });
    let stopCode = null;
    const forward = (signal) => {
      stopCode ??= 128 + constants.signals[signal];
      child.kill(signal);
    };
    for (const signal of FORWARDED_SIGNALS) process.on(signal, forward);
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      for (const each of FORWARDED_SIGNALS) process.off(each, forward);
      resolve({ code: signal === null ? code : 128 + constants.signals[signal], stopCode });
    });
    started(child);
  });
}
