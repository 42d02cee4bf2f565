/** Runs the rendered nginx configuration in nginx, in front of an agent's stream. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { removeIncludes } from '#agent/install/nginx/includes.ts';
import { planProxy } from '#agent/install/nginx/plan-proxy.ts';
import { renderChallenge, renderRoute, renderServer } from '#agent/install/nginx/render.ts';
import { paths } from '#agent/install/paths.ts';
import { readTlsMaterial } from '#agent/tls/tls-files.ts';
import {
  requestByHttp2,
  requestWithoutTls,
  requestProxy,
  DOMAIN,
  connectViewer,
} from './proxy-client.ts';
import { type Certificate, lacksOpenssl } from './certificates.ts';
import { lacksNginx, type Nginx, startNginx } from './nginx-process.ts';
import { NginxFixture } from './nginx-fixture.ts';
import { waitFor } from './wait.ts';
import { startRecordingAgent } from './recording-agent.ts';
import { openStream, type Stream } from './stream-harness.ts';
import { findFreePort } from './find-free-port.ts';

const skip = lacksNginx || lacksOpenssl;

describe('the route through nginx', { skip }, () => {
  const fixture = new NginxFixture();
  after(() => fixture[Symbol.dispose]());
  const { web, authority, anna, berta, options } = fixture;
  const expired = fixture.makeExpired();
  const stranger = fixture.createRoot('elsewhere').issueClient('anna');
  const place = fixture.place.bind(fixture);

  describe('without client certificates', () => {
    let port = 0;
    let stream: Stream;
    let nginx: Nginx;
    before(async () => {
      port = await findFreePort();
      stream = await openStream({ tls: readTlsMaterial({ ...web, clients: null }) });
      nginx = await startNginx(
        { 'conf.d/a.conf': place(renderServer(options), port, stream.port) },
        port,
      );
    });
    after(async () => {
      await nginx?.[Symbol.asyncDispose]();
      await stream?.[Symbol.asyncDispose]();
    });

    test('is accepted by nginx without a warning', () => {
      const said = nginx.test().replaceAll(nginx.directory, '');
      assert.equal(
        said,
        'nginx: the configuration file /nginx.conf syntax is ok\nnginx: configuration file /nginx.conf test is successful\n',
      );
    });

    test('answers the health route without logging it', async () => {
      const good = { status: 200, type: 'text/plain', text: 'OK\n' };
      assert.deepEqual(await requestProxy(port, '/latchkey/health'), good);
      assert.deepEqual(await requestByHttp2(port, '/latchkey/health'), good);
      assert.equal((await requestProxy(port, '/after')).status, 404);
      const log = await waitFor(() => /after/.test(nginx.readAccessLog()) && nginx.readAccessLog());
      assert.match(log, /GET \/after HTTP/);
      assert.doesNotMatch(log, /health/);
    });

    test('streams snapshots to viewers of the path', async () => {
      for (const path of ['/latchkey', '/latchkey/']) {
        const viewer = await connectViewer(port, path);
        const [hello = ''] = await viewer.receive(1);
        assert.match(hello, /"type":"hello"/);
        stream.hub.tick();
        const messages = await viewer.receive(2);
        assert.match(messages[1] ?? '', /"type":"snapshot"/);
        viewer.socket.close();
        await viewer.closed;
      }
    });

    test('forwards other requests below the path to the agent, without the path', async () => {
      assert.deepEqual(
        await requestProxy(port, '/latchkey/nothing?a=b'),
        await requestProxy(stream.port, '/nothing?a=b'),
      );
      assert.deepEqual(await requestProxy(port, '/latchkey'), await requestProxy(stream.port, '/'));
    });

    test('answers 404 on every other path of the domain', async () => {
      const nothing = { status: 404, type: 'text/plain', text: 'There is nothing here.\n' };
      for (const path of ['/', '/latchkeys', '/x/latchkey/health'])
        assert.deepEqual(await requestProxy(port, path), nothing);
    });

    test('accepts TLS 1.2 and 1.3 only', async () => {
      for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
        const tls = { minVersion: version, maxVersion: version };
        assert.equal((await requestProxy(port, '/latchkey/health', tls)).status, 200);
      }
      const old = {
        minVersion: 'TLSv1',
        maxVersion: 'TLSv1.1',
        ciphers: 'ALL:@SECLEVEL=0',
      } as const;
      await assert.rejects(requestProxy(port, '/latchkey/health', old), /alert protocol version/);
    });
  });

  test('sends the domain by SNI and the forwarding headers to the agent', async () => {
    const port = await findFreePort();
    using agent = await startRecordingAgent(web);
    const text = place(renderServer(options), port, agent.port);
    await using nginx = await startNginx({ 'conf.d/a.conf': text }, port);
    assert.match(nginx.test(), /test is successful/);
    await assert.rejects(
      connectViewer(port, '/latchkey?a=b', {}, { 'X-Forwarded-For': '192.0.2.7' }),
      { message: /^418/ },
    );
    const [first = {}] = agent.seen;
    const names = [
      'sni',
      'url',
      'http',
      'upgrade',
      'connection',
      'host',
      'x-real-ip',
      'x-forwarded-for',
    ];
    assert.deepEqual(
      [...names, 'x-forwarded-proto'].map((name) => first[name]),
      [
        DOMAIN,
        '/?a=b',
        '1.1',
        'websocket',
        'upgrade',
        DOMAIN,
        '127.0.0.1',
        '192.0.2.7, 127.0.0.1',
        'https',
      ],
    );
  });

  test('answers 502 without an agent, and 200 on the health route', async () => {
    const [port, nobody] = [await findFreePort(), await findFreePort()];
    const text = place(renderServer(options), port, nobody);
    await using nginx = await startNginx({ 'conf.d/a.conf': text }, port);
    assert.match(nginx.test(), /test is successful/);
    assert.equal((await requestProxy(port, '/latchkey')).status, 502);
    await assert.rejects(connectViewer(port, '/latchkey'), { message: /^502/ });
    assert.equal((await requestProxy(port, '/latchkey/health')).status, 200);
  });

  describe('with client certificates', () => {
    let port = 0;
    let stream: Stream;
    let nginx: Nginx;
    before(async () => {
      port = await findFreePort();
      const clients = {
        authorityFile: authority.own.certificateFile,
        revocationFile: fixture.revocations,
      };
      stream = await openStream({ tls: readTlsMaterial({ ...web, clients }) });
      const text = place(renderServer({ ...options, mutualTls: true }), port, stream.port);
      nginx = await startNginx({ 'conf.d/a.conf': text }, port);
    });
    after(async () => {
      await nginx?.[Symbol.asyncDispose]();
      await stream?.[Symbol.asyncDispose]();
    });

    test('admits viewers with one, and presents its own to the agent', async () => {
      const viewer = await connectViewer(port, '/latchkey', { certificate: anna });
      assert.match((await viewer.receive(1))[0] ?? '', /"type":"hello"/);
      viewer.socket.close();
      await viewer.closed;
      assert.deepEqual(stream.warnings, []);
    });

    const refused: readonly [what: string, certificate: Certificate | null, text: string][] = [
      ['none', null, 'A client certificate is needed.'],
      ['a revoked one', berta, 'The client certificate is refused: FAILED:certificate revoked.'],
      [
        'one of another authority',
        stranger,
        'The client certificate is refused: FAILED:unable to verify the first certificate.',
      ],
      [
        'an expired one',
        expired,
        'The client certificate is refused: FAILED:certificate has expired.',
      ],
    ];
    for (const [what, certificate, text] of refused) {
      const shown = { certificate };
      test(`answers 496 on the route to viewers with ${what}`, async () => {
        const expected = { status: 496, type: 'text/plain', text: `${text}\n` };
        for (const path of ['/latchkey', '/latchkey/', '/latchkey/app.js'])
          assert.deepEqual(await requestProxy(port, path, shown), expected);
        await assert.rejects(connectViewer(port, '/latchkey', shown), { message: `496 ${text}` });
        assert.equal((await requestByHttp2(port, '/latchkey', shown)).status, 496);
      });

      test(`serves other paths to viewers with ${what}`, async () => {
        const other = await requestProxy(port, '/shop?a=b', shown);
        assert.deepEqual([other.status, other.text], [404, 'There is nothing here.\n']);
      });

      test(`answers the health route to viewers with ${what}`, async () => {
        assert.deepEqual(await requestProxy(port, '/latchkey/health', shown), {
          status: 200,
          type: 'text/plain',
          text: 'OK\n',
        });
      });
    }
  });

  test('is added to and removed from a block of others, whose paths and errors stay', async () => {
    const [port, agentPort] = [await findFreePort(), await findFreePort()];
    const site = `server {
  listen 443 ssl;
  server_name ${DOMAIN};
  ssl_certificate ${web.certificateFile};
  ssl_certificate_key ${web.keyFile};
  error_page 404 /missing;
  location = /missing { internal; default_type text/plain; return 404 "Not here: $uri$is_args$args\\n"; }
  location = /shop { default_type text/plain; return 200 "Shop $args\\n"; }
}\n`;
    const path = '/etc/nginx/conf.d/a.conf';
    const main = {
      path: '/etc/nginx/nginx.conf',
      realPath: '/etc/nginx/nginx.conf',
      isWritable: true,
    };
    const found = planProxy(
      [
        { ...main, text: 'http { include conf.d/*.conf; }' },
        { path, realPath: path, text: site, isWritable: true },
      ],
      { ...options, mutualTls: true },
    );
    assert.ok(found.kind === 'existing');
    const changed = found.edits[0]?.after ?? '';
    const route = place(found.route.text, port, agentPort);
    await using nginx = await startNginx(
      {
        'conf.d/a.conf': place(changed, port, agentPort).replace(paths.nginxRoute, 'route.conf'),
        'route.conf': route,
        'conf.d/limits.conf': found.limits?.text ?? '',
      },
      port,
    );
    assert.doesNotMatch(nginx.test(), /warn|emerg/);
    const shown = { certificate: stranger };
    for (const more of [{}, shown]) {
      assert.equal((await requestProxy(port, '/shop?a=%20b', more)).text, 'Shop a=%20b\n');
      assert.equal((await requestProxy(port, '/latchkey/health', {})).status, 200);
      assert.equal((await requestProxy(port, '/latchkey', more)).status, 496);
      assert.equal((await requestProxy(port, '/x', more)).status, 404);
    }
    assert.equal(removeIncludes(changed, '/etc/nginx'), site);
    await using without = await startWithout(site);
    assert.equal((await requestProxy(without.port, '/latchkey/health')).status, 404);
  });

  test('redirects requests without TLS to https, except for the health route', async () => {
    const [port, plain] = [await findFreePort(), await findFreePort()];
    const route = place(renderRoute(options, { answersWithoutTls: true }), port, 1);
    const shown = `ssl_certificate ${web.certificateFile}; ssl_certificate_key ${web.keyFile};`;
    const site = `server { listen 127.0.0.1:${port} ssl; listen 127.0.0.1:${plain}; ${shown}\n${route}}\n`;
    await using nginx = await startNginx({ 'conf.d/a.conf': site }, port);
    assert.match(nginx.test(), /test is successful/);
    for (const path of ['/latchkey', '/latchkey/', '/latchkey/app.js?a=b']) {
      assert.equal((await requestWithoutTls(plain, path)).status, 301);
      assert.equal((await requestProxy(port, path)).status, 502);
    }
    assert.equal((await requestWithoutTls(plain, '/latchkey/health')).text, 'OK\n');
  });

  async function startWithout(site: string): Promise<Nginx & { readonly port: number }> {
    const port = await findFreePort();
    return { ...(await startNginx({ 'conf.d/a.conf': place(site, port, 1) }, port)), port };
  }

  test('answers challenges in a block that redirects everything or requires a password', async () => {
    const port = await findFreePort();
    const site = `server {
  listen 127.0.0.1:${port};
  include challenge.conf;
  auth_basic "Ask";
  deny all;
  rewrite ^/.well /elsewhere;
  return 301 https://$host$request_uri;
}\n`;
    const challenges = join(fixture.directory, 'challenges');
    const token = join(challenges, '.well-known/acme-challenge/token');
    mkdirSync(dirname(token), { recursive: true });
    writeFileSync(token, 'token.key');
    const snippet = renderChallenge().replace(paths.challenges, challenges);
    await using nginx = await startNginx(
      { 'conf.d/a.conf': site, 'challenge.conf': snippet },
      port,
    );
    assert.match(nginx.test(), /test is successful/);
    const answer = await requestWithoutTls(port, '/.well-known/acme-challenge/token');
    assert.deepEqual(answer, { status: 200, type: 'text/plain', text: 'token.key' });
    assert.equal((await requestWithoutTls(port, '/.well-known/acme-challenge/none')).status, 404);
    assert.equal((await requestWithoutTls(port, '/other')).status, 301);
  });

  test('is accepted by nginx with any valid path', async () => {
    const port = await findFreePort();
    const text = renderRoute({ ...options, proxyPath: '/a/b.c~d', mutualTls: true });
    const server = `server { listen 127.0.0.1:${port} ssl; ssl_certificate ${web.certificateFile}; ssl_certificate_key ${web.keyFile};\n${place(text, port, 1)}}\n`;
    await using nginx = await startNginx({ 'conf.d/a.conf': server }, port);
    assert.match(nginx.test(), /test is successful/);
    const shown = { certificate: stranger };
    assert.equal((await requestProxy(port, '/a/b.c~d', shown)).status, 496);
    assert.equal((await requestProxy(port, '/a/bxc~d', shown)).status, 404);
  });
});
