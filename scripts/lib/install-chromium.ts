import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';

/** Generous for a slow mirror; a usual one needs half a minute. */
const TIMEOUT_MS = 300_000;

const COMMAND =
  'apt-get -q update && exec apt-get -q install -y --no-install-recommends chromium fonts-dejavu-core';

/**
 * Installs Chromium for the tests of the console, if this process is root on Debian and it is missing. A failure is printed, and
 * the tests are then skipped with the reason.
 */
export async function installChromium(stop: AbortSignal): Promise<void> {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return;
  if (existsSync('/usr/bin/chromium')) return;
  console.log('Installing Chromium for the tests of the console …');
  const child = spawn('sh', ['-c', COMMAND], {
    stdio: 'ignore',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    timeout: TIMEOUT_MS,
  });
  const end = (): void => void child.kill();
  stop.addEventListener('abort', end, { once: true });
  const [code]: unknown[] = await once(child, 'exit');
  stop.removeEventListener('abort', end);
  if (code !== 0) console.log('could not install Chromium: run apt-get install chromium');
}
