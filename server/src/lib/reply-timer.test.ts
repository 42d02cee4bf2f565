import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';

import { startReplyTimer } from './reply-timer.ts';

/** Stops the event loop. */
function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

test('expires once when no reply arrives', async () => {
  const startedAt = performance.now();
  await new Promise<void>((resolve) => void startReplyTimer(20, resolve));
  assert.ok(performance.now() - startedAt >= 19);
});

test('starts again once after a pause of the event loop', async () => {
  const expired = new Promise<number>(
    (resolve) => void startReplyTimer(20, () => resolve(performance.now())),
  );
  const startedAt = performance.now();
  pause(100);
  assert.ok((await expired) - startedAt >= 119);
});

test('does not expire when the reply arrived during a pause of the event loop', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const accepted = new Promise<Socket>((resolve) => void server.once('connection', resolve));
  const client = connect(address.port, '127.0.0.1');
  const peer = await accepted;
  const outcomes: string[] = [];
  const cancel = startReplyTimer(20, () => outcomes.push('expired'));
  client.once('data', () => {
    outcomes.push('reply');
    cancel();
  });
  peer.write('reply');
  pause(60);
  await once(client, 'data');
  assert.deepEqual(outcomes, ['reply']);
  client.destroy();
  peer.destroy();
  server.close();
});
