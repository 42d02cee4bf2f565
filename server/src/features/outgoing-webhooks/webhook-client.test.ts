import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { after, test } from 'node:test';
import { text } from 'node:stream/consumers';

import { RefusedTargetError, WebhookClient, type ResolveName } from './webhook-client.ts';

/** The network of the accepted receiver stands for public addresses; that of the internal one is not allowed. */
const ACCEPTED = '127.0.0.1';
const INTERNAL = '127.0.0.2';
const config = { allowedNetworks: [ACCEPTED] };

/** Starts a server that answers with its address and counts its connections. */
async function startServer(host: string, port = 0) {
  const counts = { connections: 0 };
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.end(host));
  });
  server.on('connection', () => (counts.connections += 1));
  server.listen(port, host);
  await once(server, 'listening');
  after(() => server.close());
  return { server, counts, port: portOf(server) };
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it has no port');
  return address.port;
}

const accepted = await startServer(ACCEPTED);
const internal = await startServer(INTERNAL, accepted.port);
const { port } = accepted;

/** A resolver that answers each look-up with the next list of addresses, and then with the last one. */
function resolveInTurn(...answers: readonly (readonly string[])[]): ResolveName {
  let index = 0;
  return (_name, _options, done) => {
    const addresses = answers[Math.min(index, answers.length - 1)] ?? [];
    index += 1;
    done(
      null,
      addresses.map((address): LookupAddress => ({ address, family: 4 })),
    );
  };
}

async function post(client: WebhookClient, url: string): Promise<string> {
  const signal = AbortSignal.timeout(30_000);
  const headers = { 'content-type': 'application/json', connection: 'close' };
  return text(await client.post(new URL(url), { headers, body: '{}', signal }));
}

test('refuses a name that resolves to an accepted address first and then to an internal one', async () => {
  const client = new WebhookClient(config, resolveInTurn([ACCEPTED], [INTERNAL]));
  const url = `http://rebinding.example.com:${port}/`;
  assert.equal(await post(client, url), ACCEPTED);
  await assert.rejects(post(client, url), RefusedTargetError);
  assert.equal(internal.counts.connections, 0);
});

test('checks the addresses of the connection, not those of an earlier check', async () => {
  const client = new WebhookClient(config, resolveInTurn([ACCEPTED], [INTERNAL]));
  const url = new URL(`http://rebinding.example.com:${port}/`);
  assert.equal(await client.isRefused(url), false);
  await assert.rejects(post(client, url.href), RefusedTargetError);
  assert.equal(internal.counts.connections, 0);
});

test('tries only the accepted addresses of a name', async () => {
  const client = new WebhookClient(config, resolveInTurn([INTERNAL, '::1', ACCEPTED]));
  assert.equal(await post(client, `http://two.example.com:${port}/`), ACCEPTED);
  const closed = new WebhookClient(config, resolveInTurn([ACCEPTED, INTERNAL]));
  accepted.server.close();
  await once(accepted.server, 'close');
  await assert.rejects(post(closed, `http://two.example.com:${port}/`), /ECONNREFUSED/);
  assert.equal(internal.counts.connections, 0);
  accepted.server.listen(port, ACCEPTED);
  await once(accepted.server, 'listening');
});

test('refuses internal addresses in URLs, with and without TLS', async () => {
  const client = new WebhookClient(config);
  for (const host of [INTERNAL, '2130706434', '0x7f.2', '[::ffff:127.0.0.2]', '[::1]', '0.0.0.0']) {
    for (const scheme of ['http', 'https']) {
      const url = `${scheme}://${host}:${port}/`;
      await assert.rejects(post(client, url), RefusedTargetError, url);
      assert.equal(client.isRefusedHost(new URL(url)), true, url);
      assert.equal(await client.isRefused(new URL(url)), true, url);
    }
  }
  assert.equal(internal.counts.connections, 0);
});

test('refuses localhost at registration unless its address is allowed', () => {
  const none = new WebhookClient({ allowedNetworks: [] });
  for (const host of ['localhost', 'LOCALHOST', 'localhost.', 'api.localhost']) {
    const url = new URL(`http://${host}:1/`);
    assert.equal(none.isRefusedHost(url), true, host);
    assert.equal(new WebhookClient(config).isRefusedHost(url), false, host);
  }
  assert.equal(none.isRefusedHost(new URL('https://notlocalhost.example.com')), false);
});

test('does not send through a proxy of the environment', async (context) => {
  for (const name of ['HTTP_PROXY', 'http_proxy', 'NODE_USE_ENV_PROXY']) {
    const before = process.env[name];
    process.env[name] = name === 'NODE_USE_ENV_PROXY' ? '1' : `http://${INTERNAL}:${port}`;
    context.after(() => {
      if (before === undefined) delete process.env[name];
      else process.env[name] = before;
    });
  }
  const client = new WebhookClient(config, resolveInTurn([ACCEPTED]));
  assert.equal(await post(client, `http://direct.example.com:${port}/`), ACCEPTED);
  assert.equal(internal.counts.connections, 0);
});

test('sends again on another connection when the receiver closed an unused one', async () => {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    if (requests === 2) request.socket.resetAndDestroy();
    else request.resume().once('end', () => response.end('accepted'));
  });
  server.listen(0, ACCEPTED);
  await once(server, 'listening');
  after(() => server.close());
  const client = new WebhookClient(config);
  const signal = AbortSignal.timeout(30_000);
  const url = new URL(`http://${ACCEPTED}:${portOf(server)}/`);
  for (let sent = 0; sent < 2; sent++) {
    const response = await client.post(url, { headers: {}, body: '{}', signal });
    assert.equal(await text(response), 'accepted');
    // The connection is free again once its response has ended.
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal(requests, 3);
});
