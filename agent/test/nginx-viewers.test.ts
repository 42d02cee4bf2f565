import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, describe, test } from 'node:test';
import { connect } from 'node:tls';

import { renderLimits, renderRoute, renderServer } from '#agent/install/nginx/render.ts';
import { AddressReports } from '#agent/stream/limits.ts';
import { readTlsMaterial } from '#agent/tls/tls-files.ts';
import { requestProxy, DOMAIN, type ClientOptions, connectViewer } from './proxy-client.ts';
import { lacksOpenssl } from './certificates.ts';
import { findFreePort } from './find-free-port.ts';
import { lacksNginx, startNginx } from './nginx-process.ts';
import { NginxFixture } from './nginx-fixture.ts';
import { startRecordingAgent } from './recording-agent.ts';
import { openStream, TestClock } from './stream-harness.ts';
import { until } from './wait.ts';

const skip = lacksNginx || lacksOpenssl;

describe('viewers through nginx', { skip }, () => {
  const fixture = new NginxFixture();
  after(() => fixture[Symbol.dispose]());
  const { web, authority, anna, options } = fixture;
  const place = fixture.place.bind(fixture);

  describe('with client certificates that are revoked', () => {
    /** nginx resumes these sessions even after a reload, without checking its list of revoked certificates. */
    const SESSIONS = 'ssl_session_cache shared:test:1m; ssl_session_tickets off;\n';

    /** Opens nginx in front of an agent, both with the same list. */
    async function open(wrap: (text: string, port: number) => string) {
      const port = await findFreePort();
      const clients = {
        authorityFile: authority.own.certificateFile,
        revocationFile: fixture.revocations,
      };
      const read = () => readTlsMaterial({ ...web, clients });
      const stream = await openStream({ tls: read() });
      const text = place(wrap(SESSIONS, port), port, stream.port);
      const nginx = await startNginx({ 'conf.d/a.conf': text }, port);
      return { port, stream, nginx, read, [Symbol.asyncDispose]: async () => close(nginx, stream) };
    }

    const places: readonly [where: string, wrap: (text: string, port: number) => string][] = [
      ['own server block', (text) => text + renderServer({ ...options, mutualTls: true })],
      [
        'another server block',
        (text, port) =>
          `${text}server { listen 127.0.0.1:${port} ssl; ssl_certificate ${web.certificateFile}; ssl_certificate_key ${web.keyFile}; ssl_protocols TLSv1.2 TLSv1.3;\n${renderRoute({ ...options, mutualTls: true })}}\n`,
      ],
    ];
    for (const [where, wrap] of places) {
      test(`closes the connections of revoked viewers only (${where})`, async () => {
        const carl = authority.issueClient('carl');
        await using opened = await open(wrap);
        const { port, stream, read } = opened;
        const carls = await connectViewer(port, '/latchkey', { certificate: carl });
        const annas = await connectViewer(port, '/latchkey', { certificate: anna });
        authority.writeRevocations([carl]);
        stream.server.setTls(read());
        const reason = 'The client certificate was revoked.';
        assert.deepEqual(await carls.closed, { code: 1008, reason });
        stream.hub.tick();
        assert.match((await annas.receive(2))[1] ?? '', /"type":"snapshot"/);
      });

      for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
        test(`rejects a resumed session of ${version} (${where})`, async () => {
          const carl = authority.issueClient('carl');
          await using opened = await open(wrap);
          const { port, stream, nginx, read } = opened;
          const tls = { minVersion: version, maxVersion: version };
          const session = await openSession(port, { ...tls, certificate: carl });
          authority.writeRevocations([carl]);
          stream.server.setTls(read());
          nginx.signal('SIGHUP');
          // nginx uses the new list for all but the resumed session.
          await until(async () => {
            const shown = { ...tls, certificate: carl };
            return (await requestProxy(port, '/latchkey', shown)).status === 496;
          });
          assert.equal((await requestProxy(port, '/latchkey', { ...tls, session })).status, 200);
          await assert.rejects(connectViewer(port, '/latchkey', { ...tls, session }), {
            message: '403 The client certificate was revoked.',
          });
        });
      }
    }
  });

  test('forwards the certificate of the client instead of a header that the client sends', async () => {
    const port = await findFreePort();
    using agent = await startRecordingAgent(web);
    const text = place(renderServer({ ...options, mutualTls: true }), port, agent.port);
    await using nginx = await startNginx({ 'conf.d/a.conf': text }, port);
    assert.match(nginx.test(), /test is successful/);
    const forged = { 'X-SSL-Client-Cert': encodeURIComponent(anna.cert), 'X-Real-IP': '192.0.2.7' };
    const shown = { certificate: authority.issueClient('carl') };
    await assert.rejects(connectViewer(port, '/latchkey', shown, forged), { message: /^418/ });
    const [seen = {}] = agent.seen;
    const passed = decodeURIComponent(String(seen['x-ssl-client-cert']));
    assert.equal(passed.trim(), shown.certificate.cert.trim());
    assert.equal(seen['x-real-ip'], '127.0.0.1');
  });

  describe('with many viewers of one client', () => {
    const REAL_ADDRESS = 'set_real_ip_from 127.0.0.1; real_ip_header X-Test-Address;\n';

    async function open(maxConnectionsPerAddress: number) {
      const lines: unknown[] = [];
      const log = { warn: (...line: unknown[]) => void lines.push(line) };
      const reports = new AddressReports(new TestClock(), log);
      const tls = readTlsMaterial({ ...web, clients: null });
      const port = await findFreePort();
      const stream = await openStream({
        tls,
        reports,
        maxConnectionsPerAddress,
        isBehindProxy: true,
      });
      const block = renderServer({ ...options, viewersPerAddress: 1 }, true);
      const files = {
        'conf.d/a.conf': REAL_ADDRESS + place(block, port, stream.port),
        'conf.d/limits.conf': renderLimits(),
      };
      const nginx = await startNginx(files, port);
      assert.doesNotMatch(nginx.test(), /warn|emerg/);
      const from = async (address: string) =>
        connectViewer(port, '/latchkey', {}, { 'X-Test-Address': address });
      return {
        stream,
        nginx,
        from,
        lines,
        [Symbol.asyncDispose]: async () => close(nginx, stream),
      };
    }

    test('the agent rejects those beyond its limit, and logs the address of the client', async () => {
      await using opened = await open(2);
      const { from, lines } = opened;
      for (let time = 0; time < 2; time += 1) await from('192.0.2.7');
      await assert.rejects(from('192.0.2.7'), { message: /^429 Too many viewers connect/ });
      await from('192.0.2.8');
      const reason = 'too many from this address (limits.connections_per_address)';
      const refused = ['stream.connection_refused', 'refused a connection'];
      assert.deepEqual(lines, [[...refused, { address: '192.0.2.7', reason }]]);
    });

    test('nginx rejects those beyond its reserve, and logs the address of the client', async () => {
      await using opened = await open(64);
      const { nginx, from } = opened;
      for (let time = 0; time < 17; time += 1) await from('192.0.2.7');
      await assert.rejects(from('192.0.2.7'), { message: /^429/ });
      await from('192.0.2.8');
      assert.match(nginx.readErrorLog(), /limiting connections by zone .*client: 192\.0\.2\.7/);
    });
  });
});

async function close(...opened: readonly AsyncDisposable[]): Promise<void> {
  for (const each of opened) await each[Symbol.asyncDispose]();
}

/** Returns a TLS session with a client certificate, which the server can resume. */
async function openSession(port: number, options: ClientOptions): Promise<Buffer> {
  const { certificate, ...tls } = options;
  const shown = { ...tls, cert: certificate?.cert, key: certificate?.key };
  const where = { host: '127.0.0.1', port, servername: DOMAIN, rejectUnauthorized: false };
  const socket = connect({ ...where, ...shown });
  const [session]: Buffer[] = await once(socket, 'session');
  socket.destroy();
  assert.ok(session);
  return session;
}
