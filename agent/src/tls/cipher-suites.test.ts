import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { connect, type ConnectionOptions } from 'node:tls';

import { lacksOpenssl, CertificateFixture } from '../../test/certificates.ts';
import { openStream, type Stream } from '../../test/stream-harness.ts';
import { readTlsMaterial } from './tls-files.ts';

describe('the TLS listener of the agent', { skip: lacksOpenssl }, () => {
  const fixture = new CertificateFixture();
  const tls = readTlsMaterial({ ...fixture.createRoot('root').issueServer(), clients: null });
  let stream: Stream;
  before(async () => void (stream = await openStream({ tls })));
  after(async () => {
    await stream[Symbol.asyncDispose]();
    fixture[Symbol.dispose]();
  });

  /** @returns the cipher suite that is negotiated */
  async function negotiate(options: ConnectionOptions): Promise<string> {
    const { port } = stream;
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options });
    try {
      await once(socket, 'secureConnect');
      return socket.getCipher().name;
    } finally {
      socket.destroy();
    }
  }

  const refused = [
    'ECDHE-ECDSA-AES128-SHA',
    'ECDHE-ECDSA-AES128-SHA256',
    'ECDHE-ECDSA-AES256-SHA384',
    'ECDHE-ECDSA-CAMELLIA128-SHA256',
    'ECDHE-ECDSA-ARIA128-GCM-SHA256',
  ];
  for (const ciphers of refused) {
    test(`rejects ${ciphers} in TLS 1.2`, async () => {
      await assert.rejects(negotiate({ maxVersion: 'TLSv1.2', ciphers }), {
        code: 'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE',
      });
    });
  }

  test('rejects CBC suites after its files are read again', async () => {
    stream.server.setTls(tls);
    await assert.rejects(negotiate({ maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-SHA' }));
  });

  const accepted = [
    'ECDHE-ECDSA-AES128-GCM-SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-ECDSA-CHACHA20-POLY1305',
  ];
  for (const ciphers of accepted) {
    test(`accepts ${ciphers} in TLS 1.2`, async () => {
      assert.equal(await negotiate({ maxVersion: 'TLSv1.2', ciphers }), ciphers);
    });
  }

  test('prefers its own order of cipher suites', async () => {
    const ciphers = accepted.toReversed().join(':');
    assert.equal(await negotiate({ maxVersion: 'TLSv1.2', ciphers }), accepted[0]);
  });

  test('rejects a renegotiation of TLS 1.2', async () => {
    const { port } = stream;
    const maxVersion = 'TLSv1.2';
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, maxVersion });
    await once(socket, 'secureConnect');
    const failed = once(socket, 'error');
    socket.renegotiate({}, () => undefined);
    const [error]: unknown[] = await failed;
    assert.match(String(error), /no renegotiation/u);
    socket.destroy();
  });

  test('accepts TLS 1.3', async () => {
    assert.match(await negotiate({ minVersion: 'TLSv1.3' }), /^TLS_/u);
  });
});
