import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { eventually } from '../../test/eventually.ts';
import { notifyWatchdog } from './systemd-watchdog.ts';

const SOCKET = '/run/systemd/notify';
const openNoLog = () => assert.fail('logged');

let directory = '';
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'latchkey-watchdog-'));
});
after(() => rm(directory, { recursive: true, force: true }));

/** Writes a program that stands for systemd-notify, and returns the search path. */
async function writeNotifier(script: string): Promise<string> {
  const folder = await mkdtemp(join(directory, 'programs-'));
  const text = `#!/bin/sh\necho "$*" >"${folder}/started"\n${script}\n`;
  await writeFile(join(folder, 'systemd-notify'), text, { mode: 0o755 });
  return folder;
}

const hasStarted = (folder: string): boolean => existsSync(join(folder, 'started'));

test('starts nothing unless systemd asks for notifications', async () => {
  const PATH = await writeNotifier('');
  const environments = [
    { PATH },
    { PATH, NOTIFY_SOCKET: SOCKET },
    { PATH, NOTIFY_SOCKET: SOCKET, WATCHDOG_USEC: '0' },
    { PATH, NOTIFY_SOCKET: SOCKET, WATCHDOG_USEC: 'soon' },
    { PATH, WATCHDOG_USEC: '1000' },
  ];
  for (const each of environments) notifyWatchdog(each, openNoLog)();
  // What was started before this has begun by then.
  const other = await writeNotifier('');
  const asked = { PATH: other, NOTIFY_SOCKET: SOCKET, WATCHDOG_USEC: '60000000' };
  const stop = notifyWatchdog(asked, openNoLog);
  await eventually(() => hasStarted(other));
  stop();
  assert.equal(hasStarted(PATH), false);
});

for (const microseconds of ['20000000', '60000000', String(2n ** 64n - 1n)]) {
  test(`notifies the watchdog of ${microseconds} µs at once`, async () => {
    const PATH = await writeNotifier('');
    const environment = { PATH, NOTIFY_SOCKET: SOCKET, WATCHDOG_USEC: microseconds };
    const stop = notifyWatchdog(environment, openNoLog);
    await eventually(() => hasStarted(PATH));
    stop();
  });
}

test('removes the variables of the watchdog from the environment', () => {
  const environment = { PATH: '/nowhere', NOTIFY_SOCKET: SOCKET, WATCHDOG_PID: '1' };
  notifyWatchdog(environment, openNoLog);
  assert.deepEqual(environment, { PATH: '/nowhere' });
});

for (const [what, script, error] of [
  ['is missing', null, 'spawn systemd-notify ENOENT'],
  ['fails', 'exit 3', 'systemd-notify ended with 3'],
  ['hangs', 'kill -STOP $$', 'systemd-notify ended with SIGKILL'],
] as const) {
  test(`logs once that systemd-notify ${what}`, async () => {
    const PATH = script === null ? '/nowhere' : await writeNotifier(script);
    const logged: unknown[] = [];
    const warn = (fields: object): void => void logged.push(fields);
    const environment = { PATH, NOTIFY_SOCKET: SOCKET, WATCHDOG_USEC: '1500000' };
    let failures = 0;
    const stop = notifyWatchdog(environment, () => {
      failures++;
      return { warn };
    });
    await eventually(() => failures > 0);
    // Two more notifications fail.
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    stop();
    assert.deepEqual(logged, [{ event: 'systemd.notify_failed', error }]);
  });
}
