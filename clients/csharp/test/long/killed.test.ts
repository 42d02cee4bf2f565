/** Kills a program 200 times while it tracks and sends events: the service has each event once. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import { startClientTest } from '../../../conformance/programs/documented-programs.ts';
import {
  checkEventsStoredOnce,
  EVENT_SETTINGS,
  KILLS,
  runAndKill,
} from '../../../conformance/programs/killed-programs.ts';
import { compile, runProgram, skip } from './mono.ts';

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
    kept.push(...(await runAndKill(command, run)));
    installs.add(JSON.parse(await readFile(join(folder, 'license.json'), 'utf8')).install_id);
  }
  assert.equal(installs.size, 1, 'the id of the installation stays the same');
  const last = await runProgram(program, args('last'), {}, directory);
  const [, sentLast = ''] = /^sent (\d+), rejected 0\n$/.exec(last) ?? [];
  assert.notEqual(sentLast, '', last);
  const stored = await checkEventsStoredOnce(service, kept);
  const sentBefore = stored - Number(sentLast);
  assert.ok(sentBefore > 0, `no events of ${kept.length} were sent by killed runs`);
  t.diagnostic(`${stored} events, ${sentBefore} of them sent by runs that were killed`);
});
