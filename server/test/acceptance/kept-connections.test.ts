import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { startTestService } from '../harness.ts';
import { activate } from '../license-steps.ts';
import { openRawConnection, renderPost, type RawConnection } from '../raw-http.ts';

const service = await startTestService();
let connection: RawConnection;
let answers = 0;

before(async () => {
  connection = await openRawConnection(service.url);
});
after(() => connection[Symbol.dispose]());

/** Sends a request on the one connection; returns the status of its answer and its `Connection`. */
async function send(request: string): Promise<readonly [string, string | undefined]> {
  const start = connection.received.length;
  connection.send(request);
  answers += 1;
  const answer = (await connection.waitForAnswers(answers)).slice(start);
  const [, status = ''] = /^HTTP\/1\.1 (\d{3}) /u.exec(answer) ?? [];
  return [status, /^connection: (.*)\r$/imu.exec(answer)?.[1]];
}

function post(path: string, body: string, ...lines: readonly string[]): string {
  const head = [`POST ${path} HTTP/1.1`, 'host: localhost', ...lines];
  if (!lines.some((line) => line.startsWith('content-type'))) {
    head.push('content-type: application/json');
  }
  return `${[...head, `content-length: ${Buffer.byteLength(body)}`].join('\r\n')}\r\n\r\n${body}`;
}

const VALIDATE = '/api/v1/licenses/validate';

describe('a refusal keeps the connection when the body was read in full', () => {
  for (const [name, status, request] of [
    ['malformed JSON', '422', post(VALIDATE, '{"license_key": "K", "activation_id": "8f14')],
    ['no JSON', '422', post(VALIDATE, 'hello')],
    ['no UTF-8', '422', post(VALIDATE, '"\ud800"')],
    ['no body', '422', post(VALIDATE, '')],
    ['faults', '422', post(VALIDATE, '{}')],
    [
      'malformed JSON in chunks',
      '422',
      `POST ${VALIDATE} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n3\r\n{"a\r\n0\r\n\r\n`,
    ],
    ['another content type', '415', post(VALIDATE, 'a=1', 'content-type: text/plain')],
    ['another content encoding', '415', post(VALIDATE, '{}', 'content-encoding: br')],
    ['gzip that is none', '400', post('/api/v1/events', '{}', 'content-encoding: gzip')],
    [
      'a wrong API key',
      '401',
      post(
        '/api/v1/outreach/send',
        '{"template":"personal","recipients":[{"email":"ada@example.com"}]}',
        'x-api-key: wrong',
      ),
    ],
    ['an unknown path', '404', post('/nowhere', '{')],
    ['a method not allowed', '405', post('/api/v1/health', '{')],
    ['an unsigned webhook', '401', post('/api/v1/webhooks/billing', '{')],
  ] as const) {
    test(`${name}: ${status}`, async () => {
      assert.deepEqual(await send(request), [status, 'keep-alive']);
      assert.deepEqual(await send('GET / HTTP/1.1\r\nhost: x\r\n\r\n'), ['200', 'keep-alive']);
    });
  }

  test('an activation limit: 409', async () => {
    const { licenseKey } = await service.issue({ maxActivations: 1 });
    await activate(service, licenseKey);
    const body = { license_key: licenseKey, machine_fingerprint: { machine_id: 'another' } };
    const request = renderPost('/api/v1/licenses/activate', body);
    assert.deepEqual(await send(request), ['409', 'keep-alive']);
    assert.deepEqual(await send('GET / HTTP/1.1\r\nhost: x\r\n\r\n'), ['200', 'keep-alive']);
  });

  test('a rate limit: 429', async () => {
    const request = post('/api/v1/subscribers', '{"email":"ada@example.com"}');
    for (let count = 0; count < 5; count++) {
      assert.deepEqual(await send(request), ['201', 'keep-alive']);
    }
    assert.deepEqual(await send(request), ['429', 'keep-alive']);
    assert.deepEqual(await send('GET / HTTP/1.1\r\nhost: x\r\n\r\n'), ['200', 'keep-alive']);
  });
});

test('a refusal closes the connection when some of the body is unread', async () => {
  using own = await openRawConnection(service.url);
  own.send(post(VALIDATE, ' '.repeat(96 * 1024)));
  assert.match(await own.waitForClose(), /^HTTP\/1\.1 413 [^]*^connection: close\r$/imu);
});
