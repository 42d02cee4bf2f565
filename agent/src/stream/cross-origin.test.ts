import assert from 'node:assert/strict';
import { request } from 'node:https';
import { after, describe, test } from 'node:test';

import { CertificateFixture, lacksOpenssl } from '../../test/certificates.ts';
import { connect, openStream } from '../../test/stream-harness.ts';
import { readTlsMaterial } from '../tls/tls-files.ts';
import { openAccessTokens } from './admission.ts';

const CONSOLE = 'https://console.example.com';
const TOKEN = 'a-token-of-many-letters';

/** Sends what a page's `fetch` sends, and returns the status, the text, and the headers that concern the page. */
async function fetchAs(origin: string, port: number, method = 'GET', authorization?: string) {
  const headers = { origin, ...(authorization === undefined ? {} : { authorization }) };
  const target = { host: '127.0.0.1', port, path: '/?admission', rejectUnauthorized: false };
  return new Promise<readonly [status: number, text: string, shared: Record<string, unknown>]>(
    (resolve, reject) => {
      const sent = request({ ...target, method, headers, agent: false }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.once('end', () => {
          const shared = Object.entries(response.headers).filter(([name]) =>
            /^(?:access-control-|vary$)/u.test(name),
          );
          resolve([response.statusCode ?? 0, text.trim(), Object.fromEntries(shared)]);
        });
      });
      sent.once('error', reject).end();
    },
  );
}

describe('pages of other origins', { skip: lacksOpenssl }, () => {
  const fixture = new CertificateFixture();
  after(() => fixture[Symbol.dispose]());
  const root = fixture.createRoot('root');
  const tls = readTlsMaterial({ ...root.issueServer(), clients: null });
  const open = async (allowed: readonly string[]) =>
    openStream({
      tls,
      readRules: () => ({ isToken: openAccessTokens([TOKEN]), allowedOrigins: new Set(allowed) }),
    });
  const shared = {
    'access-control-allow-origin': CONSOLE,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': 'X-Refused-By',
    vary: 'Origin',
  };

  test('read why they are refused, if they are listed', async () => {
    await using stream = await open([CONSOLE]);
    const needed = 'An access token is needed: send it as "Authorization: Bearer TOKEN".';
    assert.deepEqual(await fetchAs(CONSOLE, stream.port), [401, needed, shared]);
    assert.deepEqual(await fetchAs(CONSOLE, stream.port, 'GET', 'Bearer x'), [
      401,
      'The access token is not known.',
      shared,
    ]);
    const admitted = await fetchAs(CONSOLE, stream.port, 'GET', `Bearer ${TOKEN}`);
    assert.deepEqual(admitted, [200, 'OK', shared]);
  });

  test('may send a token, if they are listed: a preflight needs none', async () => {
    await using stream = await open([CONSOLE]);
    assert.deepEqual(await fetchAs(CONSOLE, stream.port, 'OPTIONS'), [
      204,
      '',
      {
        ...shared,
        'access-control-allow-methods': 'GET',
        'access-control-allow-headers': 'Authorization',
        'access-control-max-age': '600',
      },
    ]);
    assert.deepEqual(stream.warnings, []);
  });

  test('read nothing otherwise', async () => {
    await using stream = await open([CONSOLE]);
    const other = 'https://other.example.com';
    const text = 'Pages of this origin may not watch: allow it with latchkey-agent origins add.';
    const vary = { vary: 'Origin' };
    assert.deepEqual(await fetchAs(other, stream.port, 'GET', `Bearer ${TOKEN}`), [
      403,
      text,
      vary,
    ]);
    assert.deepEqual(await fetchAs(other, stream.port, 'OPTIONS'), [403, '', vary]);
    assert.deepEqual((await fetchAs('null', stream.port))[2], vary);
  });

  test('are all listed by an asterisk, each by its name', async () => {
    await using stream = await open(['*']);
    const [, , headers] = await fetchAs(CONSOLE, stream.port);
    assert.deepEqual(headers, shared);
  });

  test('are disconnected when their origin is removed from the list', async () => {
    const allowedOrigins = new Set([CONSOLE]);
    const readRules = () => ({ isToken: null, allowedOrigins });
    await using stream = await openStream({ tls, readRules });
    const viewer = await connect(stream.port, [], { origin: CONSOLE });
    const own = await connect(stream.port, [], { origin: `https://127.0.0.1:${stream.port}` });
    allowedOrigins.clear();
    stream.server.setTls(tls);
    const reason = 'Pages of this origin may not watch: allow it with latchkey-agent origins add.';
    assert.deepEqual(await viewer.closed, { code: 1008, reason });
    assert.equal(own.socket.readyState, own.socket.OPEN);
  });
});
