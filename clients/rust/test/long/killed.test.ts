/** Kills a program 200 times while it tracks and sends events: the service has each event once. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

import { startClientTest } from '../../../conformance/programs/documented-programs.ts';
import {
  checkEventsStoredOnce,
  EVENT_SETTINGS,
  KILLS,
  runAndKill,
} from '../../../conformance/programs/killed-programs.ts';
import { runCargo, WITHOUT_CARGO } from '../cargo.ts';

const run = promisify(execFile);

/** Builds the program, and returns its path. */
async function buildProgram(root: string): Promise<string> {
  const flags = ['--quiet', '--locked', '--debug', '--no-track', '--path', '.', '--root', root];
  await runCargo(['install', ...flags, '--example', 'track_events']);
  return join(root, 'bin', 'track_events');
}

const { service, directory } = await startClientTest('rust-killed', EVENT_SETTINGS);
const folder = join(directory, 'kept');

test(
  `each event is stored once, over ${KILLS} kills`,
  { timeout: 580_000, skip: WITHOUT_CARGO },
  async (t) => {
    const command = [await buildProgram(directory), service.url, folder, '[]'];
    const kept: string[] = [];
    const installs = new Set<unknown>();
    for (let count = 0; count < KILLS; count += 1) {
      kept.push(...(await runAndKill([...command, String(count)], count)));
      const file = JSON.parse(await readFile(join(folder, 'license.json'), 'utf8'));
      installs.add(file.install_id);
    }
    assert.equal(installs.size, 1, 'the id of the installation stays the same');
    const [program = '', ...args] = command;
    const { stdout } = await run(program, [...args, 'flush']);
    assert.match(stdout, /^Flushed \{ sent: \d+, rejected: 0 \}\n$/);
    await checkEventsStoredOnce(service, kept);
    assert.ok(kept.length > KILLS * 3, `only ${kept.length} events`);
    t.diagnostic(`${kept.length} events were kept; the last run: ${stdout.trim()}`);
  },
);
