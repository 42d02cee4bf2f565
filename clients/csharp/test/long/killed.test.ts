/** Kills a program 200 times while it tracks and sends events: the service has each event once. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import { startClientTest } from '../../../conformance/programs/documented-programs.ts';
import {
  checkEventsStoredOnce,
  EVENT_SETTINGS,
  runAndKill,
} from '../../../conformance/programs/killed-programs.ts';
import { compile, runProgram, skip } from './mono.ts';

const KILLS = 200;
/** The first request takes Mono a second; each run is killed after another part of its work. */
const LONGEST_RUN_MS = 1_500;

const { service, directory } = await startClientTest('csharp-killed', EVENT_SETTINGS);
const program = join(directory, 'track.exe');
const folder = join(directory, 'kept');
const args = (run: string) => [service.url, '{"keys":[]}', folder, run];

test(`each event is stored once, over ${KILLS} kills`, { skip, timeout: 880_000 }, async (t) => {
  await compile(program, ['test/long/TrackEvents.cs'], 'TrackEvents');
  const kept: string[] = [];
  const installs = new Set<unknown>();
  for (let run = 0; run < KILLS; run += 1) {
    const command = ['mono', program, ...args(String(run))];
    kept.push(...(await runAndKill(command, (run * 337.3) % LONGEST_RUN_MS)));
    installs.add(JSON.parse(await readFile(join(folder, 'license.json'), 'utf8')).install_id);
  }
  assert.equal(installs.size, 1, 'the id of the installation stays the same');
  const last = await runProgram(program, args('last'), {}, directory);
  const [, sentLast = ''] = /^sent (\d+), rejected 0\n$/.exec(last) ?? [];
  assert.notEqual(sentLast, '', last);
  const stored = await checkEventsStoredOnce(service, kept, KILLS);
  const sentBefore = stored - Number(sentLast);
  assert.ok(sentBefore > KILLS * 3, `only ${sentBefore} of ${kept.length} events by killed runs`);
  t.diagnostic(`${stored} events, ${sentBefore} of them sent by runs that were killed`);
});
