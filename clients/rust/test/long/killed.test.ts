/** Kills a program 200 times while it tracks and sends events: the service has each event once. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';

import { startTestService } from '../../../../server/test/harness.ts';
import { runCargo, WITHOUT_CARGO } from '../cargo.ts';

const KILLS = 200;
/** The first request takes some 20 ms; each run is cut at another moment of its work. */
const LONGEST_RUN_MS = 200;

const run = promisify(execFile);

/** Builds the program, and returns its path. */
async function buildProgram(root: string): Promise<string> {
  const flags = ['--quiet', '--locked', '--debug', '--no-track', '--path', '.', '--root', root];
  await runCargo(['install', ...flags, '--example', 'track_events']);
  return join(root, 'bin', 'track_events');
}

/** Runs the program, kills it some time after its first event, and returns the events that it kept. */
async function runAndKill(program: string, args: readonly string[], count: number) {
  const child = spawn(program, [...args, String(count)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const kept: string[] = [];
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => kept.push(line));
  await once(lines, 'line');
  setTimeout(() => child.kill('SIGKILL'), (count * 37.3) % LONGEST_RUN_MS);
  await Promise.all([once(child, 'exit'), once(lines, 'close')]);
  return kept;
}

async function startProgram(t: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-rust-killed-'));
  t.after(() => rm(directory, { recursive: true }));
  const service = await startTestService({
    clock: { now: () => new Date(), set: () => undefined, advance: () => undefined },
    settings: { LATCHKEY_EVENTS_RATE: '10000/100000' },
  });
  const folder = join(directory, 'kept');
  return {
    service,
    folder,
    program: await buildProgram(directory),
    args: [service.url, folder, '[]'],
  };
}

test(
  `each event is stored once, over ${KILLS} kills`,
  { timeout: 580_000, skip: WITHOUT_CARGO },
  async (t) => {
    const { service, folder, program, args } = await startProgram(t);
    const kept: string[] = [];
    const installs = new Set<unknown>();
    for (let count = 0; count < KILLS; count += 1) {
      kept.push(...(await runAndKill(program, args, count)));
      const file = JSON.parse(await readFile(join(folder, 'license.json'), 'utf8'));
      installs.add(file.install_id);
    }
    assert.equal(installs.size, 1, 'the id of the installation survives');
    const { stdout } = await run(program, [...args, 'flush']);
    assert.match(stdout, /^Flushed \{ sent: \d+, rejected: 0 \}\n$/);
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
    assert.ok(kept.length > KILLS * 3, `only ${kept.length} events`);
    t.diagnostic(`${kept.length} events were kept; the last run: ${stdout.trim()}`);
  },
);
