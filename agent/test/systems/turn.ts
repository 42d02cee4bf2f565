import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A name without a file: the kernel forgets it with the process that has it. */
const NAME = '\0latchkey-systems';

const PAUSE_MS = 250;

/**
 * Waits until no other test file of this machine boots whole systems, and keeps them waiting until this process ends: they
 * would take each other's time. To be awaited before tests are declared, so that the wait is not counted as theirs.
 */
export async function takeTurn(): Promise<void> {
  for (;;) {
    const server = createServer().unref();
    server.listen(NAME);
    try {
      await once(server, 'listening');
      return;
    } catch {
      // Somebody else has it.
      await sleep(PAUSE_MS);
    }
  }
}
