import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ephemeral ports of Linux, so that no other program is assigned one of these by chance. */
const FIRST_PORT = 20_000;
const END_PORT = 32_000;
const MAX_ATTEMPTS = 100;

/** Returns a free port, for a program whose port must be configured. */
export async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const port = randomInt(FIRST_PORT, END_PORT);
    if (await isFree(port)) return port;
  }
  throw new Error(`No free port from ${FIRST_PORT} to ${END_PORT}.`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch {
    // The port is in use.
    return false;
  }
  await once(server.close(), 'close');
  return true;
}
