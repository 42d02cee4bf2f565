/** Kills a program many times while it tracks and sends events: the service has each event once. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';

import { startTestService } from '../../../../server/test/harness.ts';
import { compile, runProgram, skip } from './mono.ts';

const KILLS = 50;
/** The first request takes Mono a second; each run is cut at another moment of its work. */
const LONGEST_RUN_MS = 2_500;

const directory = await mkdtemp(join(tmpdir(), 'latchkey-killed-'));
after(() => rm(directory, { recursive: true }));

const service = await startTestService({
  clock: { now: () => new Date(), set: () => undefined, advance: () => undefined },
  settings: { LATCHKEY_EVENTS_RATE: '10000/100000' },
});

const program = join(directory, 'track.exe');
const folder = join(directory, 'kept');
const args = (run: string) => [service.url, '{"keys":[]}', folder, run];

/** Runs the program, kills it some time after its first event, and returns the events that it kept. */
async function runAndKill(run: number): Promise<string[]> {
  const child = spawn('mono', [program, ...args(String(run))], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const kept: string[] = [];
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => kept.push(line));
  await once(lines, 'line');
  setTimeout(() => child.kill('SIGKILL'), (run * 337.3) % LONGEST_RUN_MS);
  await Promise.all([once(child, 'exit'), once(lines, 'close')]);
  return kept;
}

test(`each event is stored once, over ${KILLS} kills`, { skip, timeout: 280_000 }, async (t) => {
  await compile(program, ['test/long/TrackEvents.cs'], 'TrackEvents');
  const kept: string[] = [];
  const installs = new Set<unknown>();
  for (let run = 0; run < KILLS; run += 1) {
    kept.push(...(await runAndKill(run)));
    installs.add(JSON.parse(await readFile(join(folder, 'license.json'), 'utf8')).install_id);
  }
  assert.equal(installs.size, 1, 'the id of the installation survives');
  const last = await runProgram(program, args('last'), {}, directory);
  const [, sentLast = ''] = /^sent (\d+), rejected 0\n$/.exec(last) ?? [];
  assert.notEqual(sentLast, '', last);
  const { rows } = await service.pool.query<{ name: string; count: number }>(
    `select props->>'name' as name, count(*)::integer as count from events group by 1`,
  );
  const counts = new Map(rows.map(({ name, count }) => [name, count]));
  assert.deepEqual(
    rows.filter(({ count }) => count !== 1),
    [],
  );
  // The last line of a run may have been cut: then the event is stored although it is not in the list.
  assert.deepEqual(
    kept.filter((name) => !counts.has(name)),
    [],
  );
  assert.ok(rows.length - kept.length <= KILLS, `${rows.length} stored, ${kept.length} printed`);
  const sentBefore = rows.length - Number(sentLast);
  assert.ok(sentBefore > KILLS * 3, `only ${sentBefore} of ${kept.length} events by killed runs`);
  t.diagnostic(`${rows.length} events, ${sentBefore} of them sent by runs that were killed`);
});
