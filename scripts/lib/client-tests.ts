import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import {
  fillCommand,
  findMissingNeed,
  type ClientUnderTest,
} from '../../clients/conformance/driver/clients.ts';
import { driverEnvironment } from '../../clients/conformance/driver/driver.ts';

/**
 * Runs the tests that clients have in their own language: the `tests` of their `conformance.json`. A missing program is reported as
 * skipped, with the reason.
 * @returns whether all that ran passed
 */
export async function runClientTests(
  clients: readonly ClientUnderTest[],
  stop: AbortSignal,
): Promise<boolean> {
  let passed = true;
  for (const client of clients) {
    for (const test of client.tests ?? []) {
      if (stop.aborted) return false;
      const missing = findMissingNeed(client) ?? findMissingNeed(test);
      const outcome = missing === null ? await runCommand(client, test.command, stop) : null;
      if (outcome === false) passed = false;
      const words = outcome === null ? `skipped: ${missing}` : outcome ? 'passed' : 'failed';
      console.log(`${client.name}: ${test.command.join(' ')}: ${words}`);
    }
  }
  return passed;
}

async function runCommand(
  { folder, name }: ClientUnderTest,
  words: readonly string[],
  stop: AbortSignal,
): Promise<boolean> {
  const out = await mkdtemp(join(tmpdir(), `latchkey-${name}-`));
  try {
    const [program = '', ...args] = fillCommand(words, out);
    const child = spawn(program, args, {
      cwd: folder,
      env: driverEnvironment(),
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    const end = (): void => void child.kill();
    stop.addEventListener('abort', end, { once: true });
    const [code]: unknown[] = await once(child, 'exit');
    stop.removeEventListener('abort', end);
    return code === 0;
  } finally {
    await rm(out, { recursive: true, force: true });
  }
}
