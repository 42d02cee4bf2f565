import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import { after, test } from 'node:test';

import { lacksOpenssl, CertificateFixture } from '../../../test/certificates.ts';
import { checkAgent } from './verify-installation.ts';

const INSTALLED = { domain: 'monitor.test' };
const fixture = new CertificateFixture();
after(() => fixture[Symbol.dispose]());

/** Starts a fake agent on one address that answers each WebSocket with this status. */
async function listen(host: string, status: number): Promise<Server> {
  const { cert, key } = fixture.createRoot('agent').own;
  const server = createServer({ cert, key });
  server.on('upgrade', (_request, socket) =>
    socket.end(`HTTP/1.1 ${status} Answer\r\nContent-Length: 0\r\n\r\n`),
  );
  server.listen(0, host);
  await once(server, 'listening');
  return server;
}

function portOf(server: Server): number {
  const bound = server.address();
  return typeof bound === 'object' && bound !== null ? bound.port : 0;
}

function configure(host: string, port: number, authorityFile: string | null = null) {
  const clients = authorityFile === null ? null : { authorityFile, revocationFile: null };
  return { listen: { host, port }, tls: { certificateFile: '/a', keyFile: '/b', clients } };
}

test('checks an agent on the address on which it listens', { skip: lacksOpenssl }, async () => {
  await using server = await listen('127.0.0.2', 401);
  const port = portOf(server);
  await checkAgent(INSTALLED, configure('127.0.0.2', port), null);
  await assert.rejects(checkAgent(INSTALLED, configure('0.0.0.0', port), null), {
    message: `The agent opens no WebSocket on 127.0.0.1:${port}: connect ECONNREFUSED 127.0.0.1:${port}.`,
  });
});

test(
  'requires an agent with an authority of its own to reject a viewer without a certificate',
  { skip: lacksOpenssl },
  async () => {
    await using strict = await listen('127.0.0.1', 403);
    await using open = await listen('127.0.0.1', 101);
    await checkAgent(INSTALLED, configure('127.0.0.1', portOf(strict), '/ca.pem'), null);
    await assert.rejects(
      checkAgent(INSTALLED, configure('127.0.0.1', portOf(open), '/ca.pem'), null),
      /is not rejected/u,
    );
  },
);
