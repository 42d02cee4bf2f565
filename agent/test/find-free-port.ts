import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that Linux gives to whoever asks for any: nobody else gets one of these meanwhile by chance. */
const FIRST_PORT = 20_000;
const END_PORT = 32_000;
const MAX_ATTEMPTS = 100;

/** A port that nobody had a moment ago, for a program that must be told one. */
export async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const port = randomInt(FIRST_PORT, END_PORT);
    if (await isFree(port)) return port;
  }
  throw new Error(`There is no free port from ${FIRST_PORT} to ${END_PORT}.`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch {
    // Somebody has it.
    return false;
  }
  await once(server.close(), 'close');
  return true;
}
