import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** An abstract socket: the kernel removes it with its process. */
const NAME = '\0latchkey-systems';

const PAUSE_MS = 250;

/**
 * Waits until no other test file of this machine boots systems, and blocks others until this process ends, because they would
 * slow each other down. Await it before tests are declared, so that the wait does not count as theirs.
 */
export async function takeTurn(): Promise<void> {
  for (;;) {
    const server = createServer().unref();
    server.listen(NAME);
    try {
      await once(server, 'listening');
      return;
    } catch {
      // Another test file has it.
      await sleep(PAUSE_MS);
    }
  }
}
