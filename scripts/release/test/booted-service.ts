/** The service of the Debian package on a booted system. */
import assert from 'node:assert/strict';

import { eventually } from '../../../server/test/eventually.ts';
import type { Machine } from '../../../agent/test/systems/machine.ts';
import type { Post } from './licensed-machine.ts';

/** The first start creates a database. */
export const START_TIMEOUT_MS = 120_000;

const INTERFACE = 'http://127.0.0.1:8080/api/v1';

/** Waits until the service of a version is healthy. */
export async function waitForHealth(machine: Machine, version: string): Promise<void> {
  const retries = ['--retry', '120', '--retry-delay', '1', '--retry-connrefused'];
  const health = await machine.succeed(['curl', '-sf', ...retries, `${INTERFACE}/health`], {
    timeoutMs: START_TIMEOUT_MS,
  });
  assert.partialDeepStrictEqual(JSON.parse(health), { status: 'healthy', version });
}

/** Sends requests from the machine to its service. */
export function postFrom(machine: Machine): Post {
  return async (path, body) => {
    const json = ['-H', 'content-type: application/json', '-d', JSON.stringify(body)];
    return JSON.parse(
      await machine.succeed(['curl', '-sS', ...json, `${INTERFACE}/licenses/${path}`]),
    );
  };
}

/** A minute would take too long; a busy machine must still notify the watchdog in time. */
const WATCHDOG_SECONDS = 20;

const DROP_IN = '/etc/systemd/system/latchkey.service.d/watchdog.conf';

/** Checks that systemd leaves a service that runs alone, and restarts one that hangs. */
export async function checkWatchdog(machine: Machine, version: string): Promise<void> {
  assert.equal(await show(machine, 'WatchdogUSec'), '1min');
  await machine.succeed(['mkdir', '-p', '/etc/systemd/system/latchkey.service.d']);
  machine.write(DROP_IN, `[Service]\nWatchdogSec=${WATCHDOG_SECONDS}\n`);
  await machine.succeed(['systemctl', 'daemon-reload']);
  await machine.succeed(['systemctl', 'restart', 'latchkey'], { timeoutMs: START_TIMEOUT_MS });
  const pid = await show(machine, 'MainPID');
  await machine.succeed(['sleep', String(WATCHDOG_SECONDS * 1.5)], { timeoutMs: START_TIMEOUT_MS });
  await waitForHealth(machine, version);
  assert.equal(await show(machine, 'MainPID'), pid);

  await machine.succeed(['kill', '-STOP', pid]);
  await eventually(async () => (await show(machine, 'NRestarts')) === '1', {
    timeoutMs: START_TIMEOUT_MS,
  });
  await waitForHealth(machine, version);
  assert.notEqual(await show(machine, 'MainPID'), pid);
  const log = await machine.succeed(['journalctl', '--unit=latchkey', '--no-pager']);
  assert.match(log, /Watchdog timeout/);
  await machine.succeed(['rm', DROP_IN]);
  await machine.succeed(['systemctl', 'daemon-reload']);
}

async function show(machine: Machine, property: string): Promise<string> {
  const args = ['systemctl', 'show', `--property=${property}`, '--value', 'latchkey'];
  return (await machine.succeed(args)).trim();
}
