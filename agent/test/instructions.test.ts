/** Runs the printed instructions in Apache, Caddy and HAProxy in front of an agent's stream. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { renderApache } from '#agent/install/instructions/apache.ts';
import { renderCaddy, renderCaddyTls } from '#agent/install/instructions/caddy.ts';
import {
  renderHaproxyBackend,
  renderHaproxyBind,
  renderHaproxyFront,
} from '#agent/install/instructions/haproxy.ts';
import { paths } from '#agent/install/paths.ts';
import { readTlsMaterial } from '#agent/tls/tls-files.ts';
import {
  requestByHttp2,
  requestProxy,
  DOMAIN,
  type ClientOptions,
  connectViewer,
} from './proxy-client.ts';
import { lacksOpenssl, CertificateFixture } from './certificates.ts';
import { startRecordingAgent } from './recording-agent.ts';
import { openStream, type Stream } from './stream-harness.ts';
import { findFreePort } from './find-free-port.ts';
import { startWebServer, type WebServer } from './web-server.ts';

interface Server {
  readonly program: string;
  readonly versionArgument: string;
  /** Starts it with the configuration of the instructions; 4096 is replaced by the agent's port. */
  readonly start: (port: number, agentPort: number, mutualTls: boolean) => Promise<WebServer>;
  /** The status for each kind of rejected client; null when the TLS handshake fails. */
  readonly refuses: {
    readonly noCertificate: number;
    readonly unknownCertificate: number | null;
    readonly revoked: number | null;
  };
}

const fixture = new CertificateFixture();
after(() => fixture[Symbol.dispose]());
const web = fixture.createRoot('web').issueServer();
const authority = fixture.createRoot('clients');
const [anna, berta, proxy] = ['anna', 'berta', 'proxy'].map((name) => authority.issueClient(name));
const unknownClient = fixture.createRoot('elsewhere').issueClient('anna');
assert.ok(anna && berta && proxy);
const revocations = authority.writeRevocations([berta]);
const inOne = (name: string, cert: string, key: string): string => {
  const path = join(fixture.directory, name);
  writeFileSync(path, cert + key, { mode: 0o600 });
  return path;
};
const webInOne = inOne('web-in-one.pem', web.cert, web.key);
const proxyInOne = inOne('proxy-in-one.pem', proxy.cert, proxy.key);

/** Replaces the ports and paths in an instruction by those of the test. */
function place(text: string, agentPort: number): string {
  return text
    .replaceAll('127.0.0.1:4096', `127.0.0.1:${agentPort}`)
    .replaceAll(/\/etc\/(?:apache2|haproxy)\/latchkey-agent-proxy\.pem/g, proxyInOne)
    .replaceAll(paths.authorityCertificate, authority.own.certificateFile)
    .replaceAll(paths.revocations, revocations)
    .replaceAll(paths.proxyCertificateKey, proxy?.keyFile ?? '')
    .replaceAll(paths.proxyCertificate, proxy?.certificateFile ?? '');
}

const options = (mutualTls: boolean) => ({
  domain: DOMAIN,
  proxyPath: '/latchkey',
  mutualTls,
  agentPort: 4096,
});

const MODULES = [
  'mpm_event',
  'authz_core',
  'ssl',
  'headers',
  'proxy',
  'proxy_http',
  'proxy_wstunnel',
  'http2',
];

const apache: Server = {
  program: 'apache2',
  versionArgument: '-v',
  refuses: { noCertificate: 403, unknownCertificate: null, revoked: null },
  start: async (port, agentPort, mutualTls) =>
    startWebServer({
      program: 'apache2',
      args: (directory) => ['-d', directory, '-f', join(directory, 'a.conf'), '-DFOREGROUND'],
      files: {
        'a.conf': `ServerName localhost
PidFile pid
ErrorLog error.log
Mutex pthread
User www-data
Group www-data
Listen 127.0.0.1:${port}
${MODULES.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so\n`).join('')}
<VirtualHost *:${port}>
ServerName ${DOMAIN}
Protocols h2 http/1.1
SSLEngine on
SSLCertificateFile ${web.certificateFile}
SSLCertificateKeyFile ${web.keyFile}
${place(renderApache(options(mutualTls)), agentPort)}
</VirtualHost>
`,
      },
      port,
    }),
};

const caddy: Server = {
  program: 'caddy',
  versionArgument: 'version',
  refuses: { noCertificate: 496, unknownCertificate: null, revoked: 101 },
  start: async (port, agentPort, mutualTls) =>
    startWebServer({
      program: 'caddy',
      args: (directory) => [
        'run',
        '--config',
        join(directory, 'Caddyfile'),
        '--adapter',
        'caddyfile',
      ],
      env: (directory) => ({
        HOME: directory,
        XDG_DATA_HOME: directory,
        XDG_CONFIG_HOME: directory,
      }),
      files: {
        Caddyfile: `{
	admin off
	auto_https off
}
https://${DOMAIN}:${port} {
	bind 127.0.0.1
	tls ${web.certificateFile} ${web.keyFile} {
${place(renderCaddyTls(options(mutualTls)), agentPort)}
	}
${place(renderCaddy(options(mutualTls)), agentPort)}
}
`,
      },
      port,
    }),
};

const haproxy: Server = {
  program: 'haproxy',
  versionArgument: '-v',
  refuses: { noCertificate: 496, unknownCertificate: 496, revoked: 496 },
  start: async (port, agentPort, mutualTls) =>
    startWebServer({
      program: 'haproxy',
      args: (directory) => ['-db', '-f', join(directory, 'haproxy.cfg')],
      files: {
        'haproxy.cfg': `defaults
    mode http
    timeout connect 5s
    timeout client 5s
    timeout server 5s
frontend web
    bind 127.0.0.1:${port} ssl crt ${webInOne} alpn h2,http/1.1 ${place(renderHaproxyBind(options(mutualTls)), agentPort)}
${renderHaproxyFront(options(mutualTls)).replaceAll(/^/gm, '    ')}
    default_backend nothing
backend nothing
    http-request return status 404
${place(renderHaproxyBackend(options(mutualTls)), agentPort)}
`,
      },
      port,
    }),
};

for (const server of [apache, caddy, haproxy]) {
  const isInstalled = spawnSync(server.program, [server.versionArgument]).status === 0;
  const skip = lacksOpenssl || (isInstalled ? false : `needs ${server.program}`);

  describe(`the route through ${server.program}`, { skip }, () => {
    describe('without client certificates', () => {
      let [port, stream, running]: [number, Stream | null, WebServer | null] = [0, null, null];
      before(async () => {
        port = await findFreePort();
        stream = await openStream({ tls: readTlsMaterial({ ...web, clients: null }) });
        running = await server.start(port, stream.port, false);
      });
      after(async () => {
        await running?.[Symbol.asyncDispose]();
        await stream?.[Symbol.asyncDispose]();
      });

      test('streams snapshots to viewers', async () => {
        const viewer = await connectViewer(port, '/latchkey');
        await viewer.receive(1);
        stream?.hub.tick();
        assert.match((await viewer.receive(2))[1] ?? '', /"type":"snapshot"/);
        viewer.socket.close();
        await viewer.closed;
      });

      test('answers the health route by HTTP/1.1 and HTTP/2', async () => {
        for (const ask of [requestProxy, requestByHttp2]) {
          const { status, type, text } = await ask(port, '/latchkey/health');
          assert.deepEqual([status, type.split(';')[0], text], [200, 'text/plain', 'OK\n']);
        }
      });

      test('forwards the rest of the path to the agent, and no other path', async () => {
        const below = await requestProxy(stream?.port ?? 0, '/nothing');
        assert.deepEqual(await requestProxy(port, '/latchkey/nothing'), below);
        const root = await requestProxy(stream?.port ?? 0, '/');
        assert.deepEqual(await requestProxy(port, '/latchkey/'), root);
        assert.notEqual((await requestProxy(port, '/latchkeys')).text, below.text);
      });
    });

    test('sends the domain by SNI and the forwarding headers to the agent', async () => {
      const port = await findFreePort();
      using agent = await startRecordingAgent(web);
      await using running = await server.start(port, agent.port, false);
      assert.notEqual(running.directory, '');
      const forwarded = { 'X-Forwarded-For': '192.0.2.7' };
      await assert.rejects(connectViewer(port, '/latchkey', {}, forwarded), { message: /^418/ });
      const [first = {}] = agent.seen;
      const names = ['sni', 'url', 'http', 'upgrade', 'host', 'x-real-ip', 'x-forwarded-proto'];
      assert.deepEqual(
        names.map((name) => first[name]),
        [DOMAIN, '/', '1.1', 'websocket', DOMAIN, '127.0.0.1', 'https'],
      );
      assert.match(String(first['x-forwarded-for']), /127\.0\.0\.1$/);
    });

    describe('with client certificates', () => {
      let [port, stream, running]: [number, Stream | null, WebServer | null] = [0, null, null];
      before(async () => {
        port = await findFreePort();
        const clients = {
          authorityFile: authority.own.certificateFile,
          revocationFile: revocations,
        };
        stream = await openStream({ tls: readTlsMaterial({ ...web, clients }) });
        running = await server.start(port, stream.port, true);
      });
      after(async () => {
        await running?.[Symbol.asyncDispose]();
        await stream?.[Symbol.asyncDispose]();
      });

      /** Returns the status that a viewer receives; null when the TLS handshake fails. */
      async function tryWatching(client: ClientOptions): Promise<number | null> {
        try {
          const viewer = await connectViewer(port, '/latchkey', client);
          viewer.socket.close();
          await viewer.closed;
          return 101;
        } catch (error) {
          assert.ok(error instanceof Error);
          const [, status] = /^(\d{3})\b/.exec(error.message) ?? [];
          return status === undefined ? null : Number(status);
        }
      }

      test('admits viewers with a valid certificate', async () => {
        assert.equal(await tryWatching({ certificate: anna }), 101);
      });

      test('rejects viewers without certificate, of another authority, and revoked ones', async () => {
        const { noCertificate, unknownCertificate, revoked } = server.refuses;
        assert.deepEqual(
          [
            await tryWatching({}),
            await tryWatching({ certificate: unknownClient }),
            await tryWatching({ certificate: berta }),
          ],
          [noCertificate, unknownCertificate, revoked],
        );
        assert.equal((await requestProxy(port, '/latchkey/')).status, noCertificate);
        assert.equal((await requestProxy(port, '/latchkey/health')).text, 'OK\n');
      });
    });
  });
}
