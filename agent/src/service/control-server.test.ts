import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import type { Log } from '../log.ts';
import { requestReload } from './client.ts';
import { type ControlOptions, openControl } from './control-server.ts';

function makeDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'latchkey-control-'));
  t.after(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** Leaves the file of a socket without a listener. */
async function leaveSocket(path: string): Promise<void> {
  const server = createServer().listen(`${path}.before`);
  await once(server, 'listening');
  renameSync(`${path}.before`, path);
  server.close();
  await once(server, 'close');
}

async function open(t: TestContext, options: ControlOptions): Promise<void> {
  const control = await openControl(options);
  t.after(() => control[Symbol.dispose]());
}

function takeWarnings(): { warnings: string[]; log: Log } {
  const warnings: string[] = [];
  const warn: Log['warn'] = (event, _message, fields = {}) =>
    void warnings.push(`${event}: ${fields['error']}`);
  return { warnings, log: { warn } };
}

test('returns the outcome, and creates the directory', async (t) => {
  const path = join(makeDirectory(t), 'run', 'control.sock');
  const outcomes = [null, 'The files are bad.'];
  const { log, warnings } = takeWarnings();
  await open(t, { path, reload: async () => outcomes.pop() ?? null, log });
  assert.equal(await requestReload(path), 'The files are bad.');
  assert.equal(await requestReload(path), null);
  assert.deepEqual(warnings, []);
});

test('replaces the socket of a killed agent, and not that of a running one', async (t) => {
  const path = join(makeDirectory(t), 'control.sock');
  await leaveSocket(path);
  const { log, warnings } = takeWarnings();
  await open(t, { path, reload: async () => 'the first', log });
  await open(t, { path, reload: async () => 'the second', log });
  assert.equal(await requestReload(path), 'the first');
  assert.deepEqual(warnings, [`control_socket.open_failed: another agent uses ${path}`]);
});

test('keeps another file at the path of the socket, and logs it', async (t) => {
  const path = join(makeDirectory(t), 'agent.yaml');
  writeFileSync(path, 'listen: 0.0.0.0:4096');
  const { log, warnings } = takeWarnings();
  await open(t, { path, reload: async () => null, log });
  assert.equal(readFileSync(path, 'utf8'), 'listen: 0.0.0.0:4096');
  assert.deepEqual(warnings, [`control_socket.open_failed: ${path} exists and is not a socket`]);
});

test('logs a directory that cannot be created, and continues', async (t) => {
  const directory = makeDirectory(t);
  writeFileSync(join(directory, 'file'), '');
  const { log, warnings } = takeWarnings();
  const path = join(directory, 'file', 'control.sock');
  await open(t, { path, reload: async () => null, log });
  assert.match(warnings[0] ?? '', /^control_socket\.open_failed: .*file/u);
});

test('rejects unknown commands, and closes connections that send too much', async (t) => {
  const path = join(makeDirectory(t), 'control.sock');
  const { log } = takeWarnings();
  let reloads = 0;
  await open(t, { path, reload: async () => `${(reloads += 1)}`, log });
  const ask = async (text: string): Promise<string> => {
    const socket = connect(path)
      .setEncoding('utf8')
      .on('error', () => socket.destroy());
    let answer = '';
    socket.on('data', (chunk: string) => (answer += chunk)).write(text);
    await once(socket, 'close');
    return answer;
  };
  assert.equal(await ask('stop\n'), '{"problem":"Unknown command; supported: reload."}\n');
  assert.equal(await ask('x'.repeat(20_000)), '');
  assert.equal(reloads, 0);
});

test('reports a program that is not an agent', async (t) => {
  const path = join(makeDirectory(t), 'control.sock');
  const server = createServer((socket) => socket.end('hello\n')).listen(path);
  t.after(() => server.close());
  await once(server, 'listening');
  assert.equal(await requestReload(path), `The program behind ${path} is not an agent.`);
});
