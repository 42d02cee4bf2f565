import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';

import { type Certificate, lacksOpenssl, CertificateFixture } from '../../test/certificates.ts';
import { sendRequest, connect, openStream } from '../../test/stream-harness.ts';
import { openAccessTokens } from '../stream/admission.ts';
import { readTlsMaterial, type TlsMaterial } from './tls-files.ts';

const show = ({ cert, key }: Certificate, more = '') => ({ cert: cert + more, key });

describe('mutual TLS', { skip: lacksOpenssl }, () => {
  const fixture = new CertificateFixture();
  after(() => fixture[Symbol.dispose]());
  const server = fixture.createRoot('web').issueServer();
  const authority = fixture.createRoot('clients');
  const anna = authority.issueClient('anna');
  const berta = authority.issueClient('berta');

  function read(revocationFile: string | null = null): TlsMaterial {
    const authorityFile = authority.own.certificateFile;
    return readTlsMaterial({ ...server, clients: { authorityFile, revocationFile } });
  }

  test('admits a certificate of the authority, and rejects others with 403 and the reason', async () => {
    await using stream = await openStream({ tls: read() });
    const viewer = await connect(stream.port, [], show(anna));
    assert.equal((await viewer.receive(1)).length, 1);
    await assert.rejects(connect(stream.port), {
      message: '403 A client certificate is needed, and none was sent.',
    });
    const stranger = fixture.createRoot('elsewhere').issueClient('anna');
    await assert.rejects(connect(stream.port, [], show(stranger)), {
      message: '403 The client certificate is not from an authority of this agent.',
    });
    assert.equal((await sendRequest(stream.port, '/health')).text, 'OK\n');
    assert.deepEqual(stream.warnings, [
      'stream.viewer_refused: A client certificate is needed, and none was sent.',
    ]);
  });

  test('rejects a server certificate of a client', async () => {
    await using stream = await openStream({ tls: read() });
    await assert.rejects(connect(stream.port, [], show(authority.issueServer())), /^Error: 403 /u);
  });

  test('sends a TLS alert to a client without a certificate when refusing in the handshake', async () => {
    await using stream = await openStream({ tls: read(), refusesInHandshake: true });
    const viewer = await connect(stream.port, [], show(anna));
    assert.equal((await viewer.receive(1)).length, 1);
    await assert.rejects(connect(stream.port), {
      code: 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
    });
    assert.deepEqual(stream.warnings, ['stream.handshake_failed: it sent no client certificate']);
  });

  test('accepts two intermediate certificates among the authorities, and rejects three', async () => {
    const first = authority.issueAuthority('first');
    const second = first.issueAuthority('second');
    const third = second.issueAuthority('third');
    const authorityFile = join(fixture.directory, 'authorities.pem');
    const all = [authority, first, second, third].map(({ own }) => own.cert);
    const clients = { authorityFile, revocationFile: null };
    const deep = second.issueClient('deep');
    writeFileSync(authorityFile, all.join(''));
    await using stream = await openStream({ tls: readTlsMaterial({ ...server, clients }) });
    const viewer = await connect(stream.port, [], show(deep));
    await assert.rejects(connect(stream.port, [], show(third.issueClient('deeper'))), {
      message: '403 The client certificate has too many intermediate certificates.',
    });
    writeFileSync(authorityFile, all.slice(0, 2).join(''));
    stream.server.setTls(readTlsMaterial({ ...server, clients }));
    const reason = 'The client certificate is not from an authority of this agent.';
    assert.deepEqual(await viewer.closed, { code: 1008, reason });
    const sent = show(deep, second.own.cert);
    await assert.rejects(connect(stream.port, [], sent), { message: `403 ${reason}` });
  });

  test('rejects a revoked certificate, and disconnects its viewer on a reload', async () => {
    const crl = authority.writeRevocations([]);
    await using stream = await openStream({ tls: read(crl) });
    const annas = await connect(stream.port, [], show(anna));
    const bertas = await connect(stream.port, [], show(berta));
    authority.writeRevocations([anna]);
    stream.server.setTls(read(crl));
    assert.deepEqual(await annas.closed, {
      code: 1008,
      reason: 'The client certificate was revoked.',
    });
    stream.hub.tick();
    assert.equal((await bertas.receive(2)).length, 2);
    await assert.rejects(connect(stream.port, [], show(anna)), {
      message: '403 The client certificate was revoked.',
    });
  });

  test('rejects every client with an outdated revocation list, with the reason', async () => {
    const another = fixture.createRoot('forgetful');
    const crl = another.writeRevocations([], 1);
    const clients = { authorityFile: another.own.certificateFile, revocationFile: crl };
    const tls = readTlsMaterial({ ...server, clients });
    const nextUpdate = tls.clients?.revocations.nextUpdate?.getTime() ?? 0;
    assert.ok(Math.abs(nextUpdate - Date.now()) < 60_000);
    while (Date.now() <= nextUpdate + 1000)
      await new Promise((resolve) => setTimeout(resolve, 100));
    await using stream = await openStream({ tls });
    await assert.rejects(connect(stream.port, [], show(another.issueClient('carl'))), {
      message:
        '403 The list of revoked certificates is out of date, so all clients are rejected: renew it on the server.',
    });
  });

  test('disconnects a viewer whose certificate expires, without verifying signatures', async (t) => {
    await using stream = await openStream({ tls: read() });
    const viewer = await connect(stream.port, [], show(berta));
    const verify = t.mock.method(X509Certificate.prototype, 'verify');
    stream.server.checkViewers();
    assert.equal(verify.mock.callCount(), 0);
    assert.equal(stream.hub.viewers.size, 1);
    stream.clock.ms = new X509Certificate(berta.cert).validToDate.getTime() + 1000;
    stream.server.checkViewers();
    assert.deepEqual(await viewer.closed, {
      code: 1008,
      reason: 'The client certificate has expired.',
    });
  });

  test('accepts an access token instead of a certificate', async () => {
    const rules = {
      isToken: openAccessTokens(['a-token-of-twenty-chars']),
      allowedOrigins: new Set<string>(),
    };
    await using stream = await openStream({ tls: read(), readRules: () => rules });
    const headers = { authorization: 'Bearer a-token-of-twenty-chars' };
    const viewer = await connect(stream.port, [], { headers });
    assert.equal((await viewer.receive(1)).length, 1);
    stream.server.setTls(read());
    stream.server.checkViewers();
    stream.hub.tick();
    assert.equal((await viewer.receive(2)).length, 2);
  });

  test('disconnects viewers of a removed token on a reload, and no others', async () => {
    const [leaked, kept] = ['a-token-that-was-leaked', 'a-token-that-is-kept'];
    let isToken = openAccessTokens([leaked, kept]);
    const readRules = () => ({ isToken, allowedOrigins: new Set<string>() });
    await using stream = await openStream({ tls: read(), readRules });
    const headers = { authorization: `Bearer ${kept}` };
    const [stranger, friend, annas] = [
      await connect(stream.port, [`latchkey.token.${leaked}`, 'latchkey.snapshot.v1']),
      await connect(stream.port, [], { headers }),
      await connect(stream.port, [], show(anna)),
    ];
    isToken = openAccessTokens([kept]);
    stream.server.setTls(read());
    assert.deepEqual(await stranger.closed, {
      code: 1008,
      reason: 'The access token is not known.',
    });
    stream.hub.tick();
    for (const viewer of [friend, annas]) assert.equal((await viewer.receive(2)).length, 2);
  });

  test('uses a new server certificate from the next handshake, and keeps viewers', async () => {
    const renewed = fixture.createRoot('web').issueServer();
    await using stream = await openStream({ tls: readTlsMaterial({ ...server, clients: null }) });
    const before = await connect(stream.port);
    stream.server.setTls(readTlsMaterial({ ...renewed, clients: null }));
    const trusting = { rejectUnauthorized: true, servername: 'localhost', ca: [renewed.cert] };
    const options = { ...trusting, allowPartialTrustChain: true };
    const later = await connect(stream.port, [], options);
    stream.hub.tick();
    assert.equal((await before.receive(2)).length, 2);
    assert.equal((await later.receive(2)).length, 2);
  });

  test('names files that cannot be used', () => {
    const broken = join(fixture.directory, 'broken.pem');
    writeFileSync(broken, '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n');
    const empty = join(fixture.directory, 'empty.pem');
    writeFileSync(empty, '');
    const der = join(fixture.directory, 'junk.crl');
    writeFileSync(der, '-----BEGIN X509 CRL-----\nMIIBAAAA\n-----END X509 CRL-----\n');
    const authorityFile = authority.own.certificateFile;
    const from = (changes: object) => () =>
      readTlsMaterial({ ...server, clients: null, ...changes });
    const { keyFile } = anna;
    assert.throws(from({ keyFile }), {
      message: `${keyFile} is not the key of ${server.certificateFile}.`,
    });
    const rsa = join(fixture.directory, 'rsa.key');
    fixture.openssl(`genrsa -out ${rsa} 2048`);
    assert.throws(from({ keyFile: rsa }), {
      message: `${rsa} is not the key of ${server.certificateFile}.`,
    });
    const locked = join(fixture.directory, 'locked.key');
    fixture.openssl(`ec -in ${server.keyFile} -aes256 -passout pass:secret -out ${locked}`);
    assert.throws(from({ keyFile: locked }), {
      message: `${locked} is protected by a passphrase: write it without one.`,
    });
    assert.throws(
      from({ keyFile: server.certificateFile }),
      /\.pem contains no usable private key \(PEM\): /u,
    );
    assert.throws(
      from({ keyFile: '/nowhere' }),
      /^TlsFileError: \/nowhere cannot be read: ENOENT/u,
    );
    assert.throws(
      from({ certificateFile: broken }),
      /broken\.pem contains an invalid certificate/u,
    );
    assert.throws(from({ certificateFile: empty }), /empty\.pem contains no "BEGIN CERTIFICATE"/u);
    assert.throws(
      from({ clients: { authorityFile, revocationFile: empty } }),
      /contains no "BEGIN X509 CRL"/u,
    );
    assert.throws(
      from({ clients: { authorityFile, revocationFile: der } }),
      /junk\.crl is not a list of revoked/u,
    );
    copyFileSync(server.certificateFile, broken);
    assert.doesNotThrow(from({ certificateFile: broken }));
  });
});
