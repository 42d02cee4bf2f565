/** Kills a program 200 times while it tracks and sends events: the service has each event once. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { startTestService } from '../../../../server/test/harness.ts';
import { bundleModules } from '../../build/bundle.ts';
import { Latchkey } from '../../src/node.ts';
import { SIGNER } from '../signer.ts';

const KILLS = 200;
/** The first request takes some 50 ms; each run is cut at another moment of its work. */
const LONGEST_RUN_MS = 250;

const directory = await mkdtemp(join(tmpdir(), 'latchkey-killed-'));
after(() => rm(directory, { recursive: true }));

const service = await startTestService({
  clock: { now: () => new Date(), set: () => undefined, advance: () => undefined },
  settings: { LATCHKEY_EVENTS_RATE: '10000/100000' },
});

const options = {
  service: service.url,
  issuer: 'https://license.example.com',
  products: ['personal'],
  publicKeys: [SIGNER.publicKey],
  appVersion: '2.4.0',
  machine: { machine_id: 'killed' },
  folder: join(directory, 'kept'),
};

/** Writes the package as it is published, because it starts in half the time of its sources. */
async function writeModules(): Promise<string> {
  for (const { file, code } of await bundleModules()) {
    const path = join(directory, file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, code);
  }
  await writeFile(join(directory, 'package.json'), '{"type":"module"}');
  return pathToFileURL(join(directory, 'node.js')).href;
}

/** Runs the program, kills it some time after its first event, and returns the events that it kept. */
async function runAndKill(module: string, run: number): Promise<string[]> {
  const program = join(import.meta.dirname, 'track-events.mjs');
  const args = [program, module, JSON.stringify(options), String(run)];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  const kept: string[] = [];
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => kept.push(line));
  await once(lines, 'line');
  setTimeout(() => child.kill('SIGKILL'), (run * 37.3) % LONGEST_RUN_MS);
  await Promise.all([once(child, 'exit'), once(lines, 'close')]);
  return kept;
}

test(`each event is stored once, over ${KILLS} kills`, { timeout: 280_000 }, async (t) => {
  const module = await writeModules();
  const kept: string[] = [];
  const installs = new Set<unknown>();
  for (let run = 0; run < KILLS; run += 1) {
    kept.push(...(await runAndKill(module, run)));
    const file = JSON.parse(await readFile(join(options.folder, 'license.json'), 'utf8'));
    installs.add(file.install_id);
  }
  assert.equal(installs.size, 1, 'the id of the installation survives');
  const last = await Latchkey.open(options);
  const waiting = await last.flush();
  assert.ok(waiting.ok && waiting.rejected === 0, JSON.stringify(waiting));
  await last.close();
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
  assert.ok(kept.length > KILLS * 3, `only ${kept.length} events`);
  t.diagnostic(`${kept.length} events were kept, and ${waiting.sent} of them sent by the last run`);
});
