import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';

import { detectAddresses, findAddresses } from './addresses.ts';

const NAME = 'monitor.invalid';

/** Response codes of RFC 1035, in the last byte of the flags. */
const SERVER_FAILURE = 2;
const NO_SUCH_NAME = 3;

test('reports a silent, failing or missing name server', async (t) => {
  const silent = await startNameServer(t, null);
  assert.deepEqual(await findAddresses(NAME, [silent]), {
    addresses: [],
    resolverFault: 'ETIMEOUT',
  });
  const failing = await startNameServer(t, SERVER_FAILURE);
  assert.deepEqual(await findAddresses(NAME, [failing]), {
    addresses: [],
    resolverFault: 'ESERVFAIL',
  });
  const gone = await findAddresses(NAME, ['127.0.0.1:1']);
  assert.deepEqual(gone, { addresses: [], resolverFault: 'ECONNREFUSED' });
});

test('does not report an unknown name as a failing resolver', async (t) => {
  const server = await startNameServer(t, NO_SUCH_NAME);
  assert.deepEqual(await findAddresses(NAME, [server]), { addresses: [], resolverFault: null });
});

test('returns no address for an unknown or loopback name, within seconds', async () => {
  const startedAtMs = performance.now();
  const found = await Promise.all([findAddresses('monitor.invalid'), findAddresses('localhost')]);
  assert.deepEqual(
    found.map(({ addresses }) => addresses),
    [[], []],
  );
  assert.ok(performance.now() - startedAtMs < 10_000);
});

test('returns the addresses of this machine that others may reach', () => {
  for (const address of detectAddresses()) assert.doesNotMatch(address, /^(?:127\.|::1$|fe80:)/u);
});

/** @param code the response code; null when the server never answers */
async function startNameServer(t: TestContext, code: number | null): Promise<string> {
  const socket = createSocket('udp4');
  t.after(() => socket.close());
  if (code !== null) answerWith(socket, code);
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return `127.0.0.1:${socket.address().port}`;
}

function answerWith(socket: Socket, code: number): void {
  socket.on('message', (query, { port, address }) => {
    const answer = Buffer.from(query);
    answer.writeUInt16BE(0x81_80 | code, 2);
    // The answer contains only the question of the query.
    answer.writeUInt16BE(0, 10);
    socket.send(answer, port, address);
  });
}
