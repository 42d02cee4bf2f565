import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';

/** Generous for a slow mirror; a usual one needs half a minute. */
const TIMEOUT_MS = 300_000;

/**
 * Installs Debian packages for tests, if this process is root on Debian. A failure is printed, and the tests are then skipped with
 * the reason.
 * @param packages the first of these lists that can be installed, each separated by spaces
 * @param purpose what they are for, after "Installing … for"
 */
export async function installPackages(
  packages: readonly string[],
  purpose: string,
  stop: AbortSignal,
): Promise<void> {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return;
  console.log(`Installing ${packages.join(' or ')} for ${purpose} …`);
  const install = packages.map((list) => `apt-get -q install -y --no-install-recommends ${list}`);
  const child = spawn('sh', ['-c', `apt-get -q update && { ${install.join(' || ')}; }`], {
    stdio: 'ignore',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    timeout: TIMEOUT_MS,
  });
  const end = (): void => void child.kill();
  stop.addEventListener('abort', end, { once: true });
  const [code]: unknown[] = await once(child, 'exit');
  stop.removeEventListener('abort', end);
  if (code !== 0) console.log(`could not install ${packages.join(' or ')}`);
}
