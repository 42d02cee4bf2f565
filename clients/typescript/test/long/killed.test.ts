/** Kills a program 200 times while it tracks and sends events: the service has each event once. */
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { startClientTest } from '../../../conformance/programs/documented-programs.ts';
import {
  checkEventsStoredOnce,
  EVENT_SETTINGS,
  KILLS,
  runAndKill,
} from '../../../conformance/programs/killed-programs.ts';
import { bundleModules } from '../../build/bundle.ts';
import { Latchkey } from '../../src/node.ts';
import { SIGNER } from '../signer.ts';

const { service, directory } = await startClientTest('killed', EVENT_SETTINGS);

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

const PROGRAM = join(import.meta.dirname, 'track-events.mjs');

test(`each event is stored once, over ${KILLS} kills`, { timeout: 280_000 }, async (t) => {
  const module = await writeModules();
  const kept: string[] = [];
  const installs = new Set<unknown>();
  for (let run = 0; run < KILLS; run += 1) {
    const command = [process.execPath, PROGRAM, module, JSON.stringify(options), String(run)];
    kept.push(...(await runAndKill(command, run, { NODE_OPTIONS: '' })));
    const file = JSON.parse(await readFile(join(options.folder, 'license.json'), 'utf8'));
    installs.add(file.install_id);
  }
  assert.equal(installs.size, 1, 'the id of the installation stays the same');
  const last = await Latchkey.open(options);
  const waiting = await last.flush();
  assert.ok(waiting.ok && waiting.rejected === 0, JSON.stringify(waiting));
  await last.close();
  await checkEventsStoredOnce(service, kept);
  assert.ok(kept.length > KILLS * 3, `only ${kept.length} events`);
  t.diagnostic(`${kept.length} events were kept, and ${waiting.sent} of them sent by the last run`);
});
