import assert from 'node:assert/strict';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { eventually } from '../eventually.ts';
import { createExternalHome, type ExternalHome } from '../external-service.ts';

/** A third of it is the interval of notifications. */
const WATCHDOG_MS = 900;
const INTERVAL_MS = WATCHDOG_MS / 3;

const HANG_INTERVALS = 10;

const ASKED = { NOTIFY_SOCKET: '/run/systemd/notify', WATCHDOG_USEC: String(WATCHDOG_MS * 1_000) };

let external: ExternalHome;
let variables: Record<string, string>;

before(async () => {
  external = await createExternalHome();
  const { directory } = external.home;
  const program = join(directory, 'systemd-notify');
  await writeFile(program, '#!/bin/sh\necho "$NOTIFY_SOCKET $*" >>"${0%/*}/notifications"\n');
  await chmod(program, 0o755);
  // A signal makes the event loop hang for a while, as an endless regular expression does.
  const hang = join(directory, 'hang.mjs');
  await writeFile(
    hang,
    `process.on('SIGWINCH', () => {
      process._rawDebug('hangs');
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${HANG_INTERVALS * INTERVAL_MS});
      process._rawDebug('runs again');
    });\n`,
  );
  const path = `${directory}:${process.env['PATH'] ?? ''}`;
  variables = { PATH: path, NODE_OPTIONS: `--import=${hang}` };
});

after(() => external[Symbol.asyncDispose]());

async function listNotifications(): Promise<string[]> {
  const path = join(external.home.directory, 'notifications');
  return (await readFile(path, 'utf8')).split('\n').slice(0, -1);
}

async function clearNotifications(): Promise<void> {
  const path = join(external.home.directory, 'notifications');
  await writeFile(path, '');
  // A service that root started runs under another account.
  await chmod(path, 0o666);
}

async function readWorkerEnvironments(pid: number): Promise<string[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  const environments = await Promise.all(
    // A systemd-notify may have ended.
    children.split(' ').map((child) => readFile(`/proc/${child}/environ`, 'utf8').catch(() => '')),
  );
  return environments.filter((text) => text.includes('NODE_UNIQUE_ID='));
}

describe('the watchdog of systemd', () => {
  for (const args of [[], ['--workers', '1']]) {
    const kind = args.length === 0 ? 'alone' : 'as a supervisor';
    test(`is notified by a service that runs ${kind}, while its event loop runs`, async () => {
      await clearNotifications();
      const service = await external.start({ ...variables, ...ASKED }, args);
      await eventually(async () => (await listNotifications()).length > 2);
      const expected = `${ASKED.NOTIFY_SOCKET} WATCHDOG=1`;
      assert.deepEqual([...new Set(await listNotifications())], [expected]);

      service.send('SIGWINCH');
      await service.waitForLine(/^hangs/u);
      const atBegin = (await listNotifications()).length;
      await service.waitForLine(/^runs again/u);
      const atEnd = (await listNotifications()).length;
      // Children that were started before the hang may still write.
      assert.ok(atEnd - atBegin < HANG_INTERVALS / 2, `${atEnd - atBegin} notifications`);
      await eventually(async () => (await listNotifications()).length > atEnd + 2);
      const workers = await readWorkerEnvironments(service.pid);
      assert.equal(workers.length, args.length === 0 ? 0 : 1);
      assert.doesNotMatch(workers.join(''), /NOTIFY|WATCHDOG/u);
      assert.equal((await service.stop()).code, 0);
    });
  }
});
