import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';

import { CertificateFixture, lacksOpenssl } from '../../../test/certificates.ts';
import { openStream } from '../../../test/stream-harness.ts';
import { readTlsMaterial } from '../../tls/tls-files.ts';
import { requestPage, requestWebSocket } from './request.ts';

describe('requests of a local server', { skip: lacksOpenssl }, () => {
  const fixture = new CertificateFixture();
  after(() => fixture[Symbol.dispose]());
  const root = fixture.createRoot('root');
  const clients = { authorityFile: root.own.certificateFile, revocationFile: null };
  const tls = readTlsMaterial({ ...root.issueServer(), clients });

  test('distinguish a refusal of the agent from its other answers', async () => {
    await using stream = await openStream({ tls });
    const target = { host: '127.0.0.1', port: stream.port, domain: 'localhost', path: '/' };
    const answers = [
      await requestPage({ ...target, path: '/?admission' }),
      await requestWebSocket(target),
      await requestPage({ ...target, path: '/?admission' }, root.issueClient('anna')),
      await requestPage({ ...target, path: '/elsewhere' }),
    ];
    assert.deepEqual(
      answers.map(({ status, isRefusedByAgent }) => [status, isRefusedByAgent]),
      [
        [403, true],
        [403, true],
        [200, false],
        [404, false],
      ],
    );
  });
});
