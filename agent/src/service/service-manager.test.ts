import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';

import { MAIN, waitForOutput, writeAgentConfig } from '../../test/agent-program.ts';
import { findFreePort } from '../../test/find-free-port.ts';
import { lacksOpenssl, CertificateFixture } from '../../test/certificates.ts';
import { emptyPrograms } from '../../test/programs.ts';
import { waitFor } from '../../test/wait.ts';
import type { Log } from '../log.ts';
import { openServiceManager } from './service-manager.ts';

/** Receives datagrams as systemd does and prints each as a line, its own lines joined by `|`. */
const RECEIVER = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
s.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
print('bound', flush=True)
while True:
    text, ancillary, *_ = s.recvmsg(4096, 4096)
    for level, kind, data in ancillary:
        if kind == socket.SCM_RIGHTS: socket.close(int.from_bytes(data[:4], sys.byteorder))
    if not text.startswith(b'BARRIER'): print(text.decode().replace(chr(10), '|'), flush=True)
`;

const lacksPrograms =
  lacksOpenssl ||
  (['python3', 'systemd-notify'].every((name) => spawnSync(name, ['--version']).status === 0)
    ? false
    : 'systemd-notify sends, and python3 stands for systemd');

function openManager(environment: NodeJS.ProcessEnv, intervalSeconds = 1, timeoutMs = 10_000) {
  const clock = { ms: 0, now: () => new Date(0), monotonicMs: () => clock.ms };
  const warnings: string[] = [];
  const log: Log = {
    warn: (event, _message, fields = {}) => void warnings.push(`${event}: ${fields['error']}`),
  };
  const manager = openServiceManager({ environment, clock, intervalSeconds, log, timeoutMs });
  return { manager, clock, warnings };
}

test('starts no program without NOTIFY_SOCKET', () => {
  using programs = emptyPrograms();
  programs.write('systemd-notify', 'exit 0');
  const { manager } = openManager({ PATH: programs.searchPath, WATCHDOG_USEC: '2000000' });
  manager.ready('x');
  manager.reloading();
  manager.tick('x');
  manager.stopping();
  assert.deepEqual(programs.starts(), []);
});

test('feeds the watchdog when the next tick would come after half of its time', async () => {
  using programs = emptyPrograms();
  programs.write('systemd-notify', 'exit 0');
  const path = `${programs.searchPath}:${process.env['PATH'] ?? ''}`;
  const environment = { PATH: path, NOTIFY_SOCKET: '/x', WATCHDOG_USEC: '10000000' };
  const { manager, clock } = openManager(environment);
  for (clock.ms = 1000; clock.ms <= 9000; clock.ms += 1000) {
    const before = programs.starts().length;
    manager.tick(`at ${clock.ms}`);
    if (clock.ms % 5000 === 0) await waitFor(() => programs.starts().length > before);
  }
  assert.deepEqual(programs.starts(), ['WATCHDOG=1 STATUS=at 5000']);
});

test('kills a systemd-notify that hangs, and sends the next message', async () => {
  using programs = emptyPrograms();
  const hang = 'touch hung; kill -STOP $$';
  programs.write('systemd-notify', `[ -e hung ] || { ${hang}; }`);
  const path = `${programs.searchPath}:${process.env['PATH'] ?? ''}`;
  const { manager } = openManager({ PATH: path, NOTIFY_SOCKET: '/x' }, 1, 500);
  manager.ready('first');
  manager.stopping();
  await waitFor(() => programs.starts().length === 2);
});

test('extends a watchdog that is shorter than three ticks', async () => {
  using programs = emptyPrograms();
  programs.write('systemd-notify', 'exit 0');
  const path = `${programs.searchPath}:${process.env['PATH'] ?? ''}`;
  const environment = { PATH: path, NOTIFY_SOCKET: '/x', WATCHDOG_USEC: '60000000' };
  const { manager } = openManager(environment, 60);
  manager.ready('x');
  const starts = await waitFor(() => programs.starts().length > 0 && programs.starts());
  assert.deepEqual(starts, ['READY=1 STATUS=x WATCHDOG_USEC=180000000']);
});

test('logs a missing systemd-notify once', async () => {
  // The timer of the timeout stays when the program cannot be started, and keeps the process.
  const { manager, warnings } = openManager({ PATH: '/nowhere', NOTIFY_SOCKET: '/x' }, 1, 100);
  manager.ready('x');
  manager.stopping();
  await waitFor(() => warnings.length > 0);
  assert.deepEqual(warnings, ['systemd.notify_failed: spawn systemd-notify ENOENT']);
});

describe('an agent under systemd', { skip: lacksPrograms }, () => {
  const fixture = new CertificateFixture();
  after(() => fixture[Symbol.dispose]());

  test('notifies ready, watchdog, reloading and stopping', async (t) => {
    const socketPath = join(fixture.directory, 'notify');
    const receiver = spawn('python3', ['-c', RECEIVER, socketPath]);
    t.after(() => receiver.kill());
    const messages = readLines(receiver);
    await waitFor(() => existsSync(socketPath) && messages.length > 0);
    const port = await findFreePort();
    const config = writeAgentConfig(
      fixture.directory,
      port,
      fixture.createRoot('root').issueServer(),
    );
    const child = spawn(process.execPath, [MAIN, 'run', '--config', config], {
      env: { ...process.env, NOTIFY_SOCKET: socketPath, WATCHDOG_USEC: '4000000' },
    });
    t.after(() => child.kill('SIGKILL'));
    await waitForOutput(child, /listens on/u);
    const where = `Listens on 127.0.0.1:${port}.`;
    await waitFor(() => messages.length > 2);
    assert.deepEqual(messages.slice(1, 3), [
      `READY=1|STATUS=${where}`,
      `WATCHDOG=1|STATUS=${where} Watching: 0.`,
    ]);

    child.kill('SIGHUP');
    const [reloading = ''] = await waitFor(() => {
      const found = messages.findIndex((each) => each.startsWith('RELOADING=1|'));
      return found > 0 && messages[found + 1] !== undefined && messages.slice(found);
    });
    const microseconds = Number(reloading.split('MONOTONIC_USEC=')[1]);
    assert.ok(Math.abs(Number(process.hrtime.bigint() / 1000n) - microseconds) < 5_000_000);
    assert.equal(messages.filter((each) => each === `READY=1|STATUS=${where}`).length, 2);

    child.kill('SIGTERM');
    await waitFor(() => messages.at(-1) === 'STOPPING=1|STATUS=Stopping.');
  });
});

function readLines(child: ChildProcess): string[] {
  const lines: string[] = [];
  if (child.stdout === null) throw new TypeError('Its output is not piped.');
  createInterface(child.stdout).on('line', (line) => void lines.push(line));
  return lines;
}
