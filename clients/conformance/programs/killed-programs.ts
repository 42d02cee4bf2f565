/** What the tests of the clients with events share that kill a program again and again. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

import type { startTestService } from '../../../server/test/harness.ts';

/** A service that accepts the events of all runs. */
export const EVENT_SETTINGS = { LATCHKEY_EVENTS_RATE: '10000/100000' };

/** How often a program is killed. */
export const KILLS = 200;

/** The events of all runs together have room in the queue. */
const LONGEST_RUN_LINES = 40;

/**
 * Runs a program, kills it after some lines, and returns its lines: the events that it kept. Lines, and not a time, so that a busy
 * computer changes nothing.
 * @param run its number: each run is killed after another part of its work
 */
export async function runAndKill(
  [program = '', ...args]: readonly string[],
  run: number,
  variables: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const env = { ...process.env, ...variables };
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'], env });
  const kept: string[] = [];
  const lines = createInterface({ input: child.stdout });
  const lineCount = 1 + ((run * 37) % LONGEST_RUN_LINES);
  lines.on('line', (line) => {
    if (kept.push(line) === lineCount) child.kill('SIGKILL');
  });
  await Promise.all([once(child, 'exit'), once(lines, 'close')]);
  return kept;
}

type Service = Awaited<ReturnType<typeof startTestService>>;

/** Checks that the service has each event once, and returns their number. */
export async function checkEventsStoredOnce(
  service: Service,
  kept: readonly string[],
): Promise<number> {
  const { rows } = await service.pool.query<{ name: string; count: number }>(
    `select props->>'name' as name, count(*)::integer as count from events group by 1`,
  );
  const stored = new Set(rows.map(({ name }) => name));
  assert.deepEqual(
    rows.filter(({ count }) => count !== 1),
    [],
  );
  // The last line of a run may have been cut: then the event is stored although it is not in the list.
  assert.deepEqual(
    kept.filter((name) => !stored.has(name)),
    [],
  );
  assert.ok(rows.length - kept.length <= KILLS, `${rows.length} stored, ${kept.length} printed`);
  return rows.length;
}
