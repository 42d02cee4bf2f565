import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';

import { listenOnFreePort } from '../../../test/ports.ts';

import { createPool } from '../pool.ts';

/** Connects to a server that answers the request for TLS with some bytes. */
async function connectTo(answer: string): Promise<void> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.write(answer));
  });
  const port = await listenOnFreePort(server);
  const url = `postgres://app@127.0.0.1:${port}/app?sslmode=prefer`;
  const pool = createPool({ url }, { maxConnections: 1, log: { warn: () => {} } });
  try {
    await pool.query('select 1');
  } finally {
    await pool.end();
    server.close();
  }
}

test('rejects unencrypted bytes behind the answer to the request for TLS (CVE-2021-23222)', async () => {
  for (const answer of ['SZ', 'NZ', 'E']) {
    await assert.rejects(
      connectTo(answer),
      /^Error: Connection terminated: the server did not answer the request for TLS$/u,
      answer,
    );
  }
});
