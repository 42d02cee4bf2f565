import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import { after, test } from 'node:test';

import { lacksOpenssl, CertificateFixture } from '../../../test/certificates.ts';
import { probeProxy } from './probe-proxy.ts';

const ROUTE = { domain: 'monitor.test', proxyPath: '/latchkey' };
const fixture = new CertificateFixture();
after(() => fixture[Symbol.dispose]());

/** Starts a fake proxy on one address that answers the health route with this status. */
async function listen(host: string, port: number, status: number): Promise<Server> {
  const { cert, key } = fixture.createRoot('proxy').own;
  const server = createServer({ cert, key }, ({ url, headers }, response) => {
    const isAsked = url === '/latchkey/health' && headers.host === 'monitor.test';
    response.writeHead(isAsked ? status : 400, { 'content-type': 'text/plain' }).end('OK\n');
  });
  server.listen(port, host);
  await once(server, 'listening');
  return server;
}

test('finds a proxy on any address of the machine', { skip: lacksOpenssl }, async () => {
  const addresses = ['127.0.0.1', '127.0.0.2', '127.0.0.3'];
  await using healthy = await listen('127.0.0.3', 0, 200);
  const bound = healthy.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : 0;
  await using other = await listen('127.0.0.2', port, 404);
  assert.ok(other.listening);
  assert.deepEqual(await probeProxy(ROUTE, addresses, port), {
    host: '127.0.0.3',
    problem: null,
  });
  assert.deepEqual(await probeProxy(ROUTE, addresses.slice(0, 2), port), {
    host: '127.0.0.2',
    problem:
      'https://monitor.test/latchkey/health does not answer OK through nginx: status 404: OK.',
  });
  const { problem } = await probeProxy(ROUTE, ['127.0.0.1'], port);
  assert.match(problem ?? '', /nginx: connect ECONNREFUSED/u);
});
