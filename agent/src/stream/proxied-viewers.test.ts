import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, describe, test } from 'node:test';

import { type Certificate, lacksOpenssl, CertificateFixture } from '../../test/certificates.ts';
import {
  sendRequest,
  connect,
  openStream,
  TestClock,
  type TestViewer,
} from '../../test/stream-harness.ts';
import { readProxiedCertificate } from '../tls/client-certificate.ts';
import { readTlsMaterial, type TlsMaterial } from '../tls/tls-files.ts';
import { AddressReports } from './limits.ts';
import { openAccessTokens } from './admission.ts';

const HEADER = 'X-SSL-Client-Cert';
const REVOKED = 'The client certificate was revoked.';
const REFUSED = ['stream.viewer_refused', 'refused a viewer'];

const show = ({ cert, key }: Certificate) => ({ cert, key });
const escape = ({ cert }: Certificate): string => encodeURIComponent(cert);

describe('viewers behind a proxy', { skip: lacksOpenssl }, () => {
  const fixture = new CertificateFixture();
  after(() => fixture[Symbol.dispose]());
  const server = fixture.createRoot('web').issueServer();
  const authority = fixture.createRoot('clients');
  const anna = authority.issueClient('anna');
  const revoked = authority.issueClient('berta');
  authority.writeRevocations([revoked]);
  const proxy = authority.issueProxy();
  const stranger = fixture.createRoot('elsewhere').issueClient('anna');
  const open = readTlsMaterial({ ...server, clients: null });

  /** Reads the agent's TLS files. @param more certificates to revoke beside `revoked` */
  function readMutual(more: readonly Certificate[] = []): TlsMaterial {
    const revocationFile = authority.writeRevocations(more);
    const clients = { authorityFile: authority.own.certificateFile, revocationFile };
    return readTlsMaterial({ ...server, clients });
  }

  /** Connects like a proxy that forwards these headers. */
  const watch = async (
    port: number,
    headers: Readonly<Record<string, string>>,
    shown: Certificate | null = proxy,
  ): Promise<TestViewer> =>
    connect(port, [], { ...(shown === null ? {} : show(shown)), headers: { ...headers } });

  describe('with mutual TLS', () => {
    test('are admitted by their own certificate, which the proxy forwards', async () => {
      await using stream = await openStream({ tls: readMutual() });
      const viewer = await watch(stream.port, { [HEADER]: escape(anna) });
      assert.equal((await viewer.receive(1)).length, 1);
    });

    const refused: readonly [what: string, header: string | null, reason: string][] = [
      [
        'no certificate is forwarded',
        null,
        'The proxy did not forward the client certificate: update its configuration (latchkey-agent install).',
      ],
      [
        'the certificate is not readable',
        'nonsense',
        'The proxy forwarded a client certificate that cannot be read.',
      ],
      [
        'two certificates are forwarded',
        `${escape(anna)}, ${escape(anna)}`,
        'The proxy forwarded a client certificate that cannot be read.',
      ],
      [
        'the certificate is of another authority',
        escape(stranger),
        'The client certificate is not from an authority of this agent.',
      ],
    ];
    for (const [what, header, reason] of refused) {
      test(`are rejected when ${what}`, async () => {
        await using stream = await openStream({ tls: readMutual() });
        const headers = header === null ? {} : { [HEADER]: header };
        await assert.rejects(watch(stream.port, headers), { message: `403 ${reason}` });
      });
    }

    test('are rejected with a revoked certificate although the proxy admits it', async () => {
      await using stream = await openStream({ tls: readMutual() });
      await assert.rejects(watch(stream.port, { [HEADER]: escape(revoked) }), {
        message: `403 ${REVOKED}`,
      });
    });

    test('are disconnected when their certificate is revoked, and others stay', async () => {
      const carl = authority.issueClient('carl');
      await using stream = await openStream({ tls: readMutual() });
      const carls = await watch(stream.port, { [HEADER]: escape(carl) });
      const annas = await watch(stream.port, { [HEADER]: escape(anna) });
      stream.server.setTls(readMutual([carl]));
      assert.deepEqual(await carls.closed, { code: 1008, reason: REVOKED });
      stream.hub.tick();
      assert.equal((await annas.receive(2)).length, 2);
    });

    test('are disconnected when their certificate expires', async () => {
      await using stream = await openStream({ tls: readMutual() });
      const viewer = await watch(stream.port, { [HEADER]: escape(anna) });
      stream.clock.ms = new X509Certificate(anna.cert).validToDate.getTime() + 1000;
      stream.server.checkViewers();
      assert.equal((await viewer.closed).code, 1008);
    });

    test('may use a token when their certificate was revoked', async () => {
      const isToken = openAccessTokens(['correct-horse-battery-staple']);
      const readRules = () => ({ isToken, allowedOrigins: new Set<string>() });
      await using stream = await openStream({ tls: readMutual(), readRules });
      const headers = {
        [HEADER]: escape(revoked),
        Authorization: 'Bearer correct-horse-battery-staple',
      };
      assert.equal((await (await watch(stream.port, headers)).receive(1)).length, 1);
    });

    test('are identified by the proxy certificate only: a client cannot name another one', async () => {
      const lines: unknown[] = [];
      const log = { warn: (...line: unknown[]) => void lines.push(line) };
      const reports = new AddressReports(new TestClock(), log);
      const tls = readMutual();
      await using stream = await openStream({ tls, reports, isBehindProxy: true });
      const headers = { [HEADER]: escape(anna), 'X-Real-IP': '192.0.2.7' };
      await assert.rejects(watch(stream.port, headers, revoked), { message: `403 ${REVOKED}` });
      await assert.rejects(watch(stream.port, headers, null), {
        message: /^403 .* none was sent/u,
      });
      assert.deepEqual(lines, [[...REFUSED, { address: '127.0.0.1', reason: REVOKED }]]);
    });

    test('are logged with the address that the proxy reports', async () => {
      const lines: unknown[] = [];
      const log = { warn: (...line: unknown[]) => void lines.push(line) };
      const reports = new AddressReports(new TestClock(), log);
      await using stream = await openStream({ tls: readMutual(), reports });
      const headers = { [HEADER]: escape(revoked), 'X-Real-IP': '192.0.2.7' };
      await assert.rejects(watch(stream.port, headers));
      assert.deepEqual(lines, [[...REFUSED, { address: '192.0.2.7', reason: REVOKED }]]);
    });
  });

  describe('without mutual TLS', () => {
    test('are limited by the address that the proxy reports, and a closed viewer releases its slot', async () => {
      const options = { tls: open, isBehindProxy: true, maxConnectionsPerAddress: 2 };
      await using stream = await openStream(options);
      const from = async (address: string): Promise<TestViewer> =>
        watch(stream.port, { 'X-Real-IP': address }, null);
      const [first] = [await from('192.0.2.7'), await from('192.0.2.7')];
      await assert.rejects(from('192.0.2.7'), {
        message: '429 Too many viewers connect from this address.',
      });
      await from('192.0.2.8');
      assert.deepEqual(stream.warnings, [
        'stream.connection_refused: too many from this address (limits.connections_per_address)',
      ]);
      first?.socket.terminate();
      while (stream.hub.viewers.size > 2) await new Promise((resolve) => setImmediate(resolve));
      await from('192.0.2.7');
    });

    test('are not limited on this machine', async () => {
      const options = { tls: open, isBehindProxy: true, maxConnectionsPerAddress: 1 };
      await using stream = await openStream(options);
      for (const headers of [{}, { 'X-Real-IP': '127.0.0.1' }, { 'X-Real-IP': 'unix:' }])
        for (let time = 0; time < 2; time += 1) await watch(stream.port, headers, null);
      assert.equal(stream.hub.viewers.size, 6);
    });

    test('are not identified by headers when the agent is not behind a proxy', async () => {
      await using stream = await openStream({ tls: open, maxConnectionsPerAddress: 1 });
      for (let time = 0; time < 2; time += 1)
        await watch(stream.port, { 'X-Real-IP': '192.0.2.7' }, null);
      assert.equal(stream.hub.viewers.size, 2);
    });
  });

  test('may send cookies beside the certificate of a large key', async () => {
    await using stream = await openStream({ tls: open });
    const headers = { Cookie: 'a'.repeat(8000), [HEADER]: 'b'.repeat(4000) };
    assert.equal((await sendRequest(stream.port, '/health', { headers })).status, 200);
  });

  test('have a certificate in any of the encodings of proxies', () => {
    const { cert } = anna;
    const der = new X509Certificate(cert).raw.toString('base64');
    const { fingerprint256 } = new X509Certificate(cert);
    for (const header of [encodeURIComponent(cert), cert.replaceAll('\n', ' '), der])
      assert.equal(readProxiedCertificate(header)?.fingerprint256, fingerprint256);
    for (const header of ['', '%', '%E0%A4%A', '(null)', 'AAAA', `${der}${der}`, `:${der}:`])
      assert.equal(readProxiedCertificate(header), null);
  });
});
