import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';

import { WebSocket, WebSocketServer } from 'ws';

import { encodeFrames } from './frames.ts';

test('encodes frames of every length as the WebSocket library reads them', async () => {
  // A header has another form from 126 and from 65,536 bytes on; the JSON around the text has eight.
  const lengths = [2, 125, 126, 65_535, 65_536, 200_000];
  const messages = lengths.map((length) => (length < 8 ? {} : { t: 'x'.repeat(length - 8) }));
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  server.on('connection', (_, request) => request.socket.write(encodeFrames(messages)));
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const client = new WebSocket(`ws://127.0.0.1:${address.port}/`);
  const received: string[] = [];
  client.on('message', (data: Buffer, isBinary) => {
    assert.equal(isBinary, false);
    received.push(data.toString());
    if (received.length === lengths.length) client.close();
  });
  await once(client, 'close');
  server.close();
  assert.deepEqual(
    received,
    messages.map((each) => JSON.stringify(each)),
  );
  assert.deepEqual(
    received.map(({ length }) => length),
    lengths,
  );
});
