import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { createExternalHome, type ExternalHome } from '../external-service.ts';
import { readMemoryMib } from '../memory.ts';
import { openRawConnection, tallyAnswers, type RawConnection } from '../raw-http.ts';
import { issueKeys, type ServiceProcess } from '../service-process.ts';

let external: ExternalHome;
let service: ServiceProcess;
let licenseKey = '';

before(async () => {
  external = await createExternalHome();
  service = await external.start();
  const order = { count: 1, maxActivations: 1_000 };
  [licenseKey = ''] = await issueKeys(external.home, order, external.settings);
});

after(() => external[Symbol.asyncDispose]());

const TRIAL_PATH = '/api/v1/trial/start';
const LARGEST_BODY = 64 * 1024;

function head(path: string, ...lines: readonly string[]): string {
  return [`POST ${path} HTTP/1.1`, 'host: localhost', ...lines, '', ''].join('\r\n');
}

const chunk = `4000\r\n${'a'.repeat(0x4000)}\r\n`;
const json = 'content-type: application/json';

/** Name, sent bytes, and the code of the problem in the response, after which the connection is closed. */
const REFUSED: readonly (readonly [string, string, string])[] = [
  ['a text that is not HTTP', 'what is this\r\n\r\n', 'bad_request'],
  ['the beginning of TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 'bad_request'],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'bad_request'],
  ['an unknown method', 'BREW / HTTP/1.1\r\nhost: localhost\r\n\r\n', 'bad_request'],
  ['a line feed in a header', head('/', 'a: b\nc: d\ne'), 'bad_request'],
  ['a NUL in a header', head('/', 'a: b\0c'), 'bad_request'],
  ['a header that is too large', head('/', `a: ${'a'.repeat(16_384)}`), 'headers_too_large'],
  [
    'too many headers',
    head('/', ...Array.from({ length: 3_000 }, (_, index) => `a${index}: 1`)),
    'headers_too_large',
  ],
  ['a path that is too long', head(`/${'a'.repeat(16_384)}`), 'headers_too_large'],
  ['two lengths', head(TRIAL_PATH, 'content-length: 5', 'content-length: 6'), 'bad_request'],
  ['a negative length', head(TRIAL_PATH, 'content-length: -1'), 'bad_request'],
  [
    'a content length with chunks (request smuggling)',
    head(TRIAL_PATH, 'content-length: 5', 'transfer-encoding: chunked'),
    'bad_request',
  ],
  [
    'a body that is too large',
    head(TRIAL_PATH, json, `content-length: ${LARGEST_BODY + 1}`) + 'a'.repeat(LARGEST_BODY + 1),
    'payload_too_large',
  ],
  ['a length that is not a number', head(TRIAL_PATH, json, 'content-length: 1e9'), 'bad_request'],
  [
    'a content length that is too large',
    head(TRIAL_PATH, json, 'content-length: 999999999'),
    'payload_too_large',
  ],
  [
    'endless chunks',
    head(TRIAL_PATH, json, 'transfer-encoding: chunked') + chunk.repeat(5),
    'payload_too_large',
  ],
  [
    'an endless chunk extension',
    `${head(TRIAL_PATH, json, 'transfer-encoding: chunked')}2;${'a'.repeat(17_000)}`,
    'payload_too_large',
  ],
];

// Concurrently, since one of them waits for a timeout of ten seconds.
describe('hostile clients', { concurrency: true }, () => {
  test('closes thousands of idle and stalled connections without an effect on other clients', async () => {
    using connections = new DisposableStack();
    const open = async (bytes: string): Promise<RawConnection> => {
      const connection = connections.use(await openRawConnection(service.url));
      if (bytes !== '') connection.send(bytes);
      return connection;
    };
    const idle = await openMany(2_000, () => open(''));
    const halfHeads = await openMany(100, () =>
      open('POST /api/v1/trial/start HTTP/1.1\r\nhost: lo'),
    );
    const halfBodies = await openMany(100, () => open(head(TRIAL_PATH, 'content-length: 9') + '{'));
    const durations = await Promise.all(Array.from({ length: 20 }, activateOnce));
    assert.ok(Math.max(...durations) < 9_000, `an activation took ${Math.max(...durations)} ms`);
    // Headers must arrive within ten seconds, which is checked every two.
    const answers = await Promise.all(halfHeads.map((connection) => connection.waitForClose()));
    for (const answer of answers) assert.deepEqual(tallyAnswers(answer), { request_timeout: 1 });
    assert.equal(idle.length + halfBodies.length, 2_100);
    await activateOnce();
  });

  describe('hostile requests', () => {
    for (const [name, bytes, code] of REFUSED) {
      test(`refuses ${name} with ${code}`, async () => {
        using connection = await openRawConnection(service.url);
        connection.send(bytes);
        const answer = await connection.waitForClose();
        assert.deepEqual(tallyAnswers(answer), { [code]: 1 });
        assert.match(answer, /^content-type: application\/problem\+json; charset=utf-8\r$/imu);
        assert.match(answer, /^x-request-id: [\w-]+\r$/imu);
        await activateOnce();
      });
    }

    test('refuses malformed percent-encoding with 400, and keeps the connection open', async () => {
      for (const path of ['/%zz', '/api/v1/licenses/%zz/activations', '/%e0%a4%a', '/a%']) {
        const response = await fetch(service.url + path);
        assert.equal(response.status, 400, path);
        assert.match(await response.text(), /"code":"bad_request"/u);
      }
    });

    test('closes only the connection with garbage after a request', async () => {
      using connection = await openRawConnection(service.url);
      connection.send(`${head('/').replace('POST', 'GET')}garbage\r\n\r\n`);
      assert.match(await connection.waitForClose(), /"code":"bad_request"/u);
      await activateOnce();
    });

    test('ignores an unknown Expect header', async () => {
      using connection = await openRawConnection(service.url);
      connection.send(head(TRIAL_PATH, json, 'expect: miracles', 'content-length: 2') + '{}');
      assert.match(await connection.waitForAnswers(1), /^HTTP\/1\.1 422 /u);
    });

    test('logs no error when clients disconnect within a body', async () => {
      const seen = service.lines.length;
      for (let count = 0; count < 20; count += 1) {
        using connection = await openRawConnection(service.url);
        connection.send(`${head(TRIAL_PATH, json, 'content-length: 100')}{"machine`);
        await sleep(5);
      }
      await activateOnce();
      assert.deepEqual(
        service.lines.slice(seen).filter((line) => line.includes('"level":"error"')),
        [],
      );
    });
  });
});

test(
  'does not leak memory with refused requests',
  { skip: process.platform !== 'linux' },
  async () => {
    const sendAll = () =>
      Promise.all(
        Array.from({ length: 50 }, async (_, index) => {
          using connection = await openRawConnection(service.url);
          connection.send(REFUSED[index % REFUSED.length]?.[1] ?? '');
          await connection.waitForClose();
        }),
      );
    for (let round = 0; round < 5; round += 1) await sendAll();
    const settled = await readMemoryMib(service.pid);
    for (let round = 0; round < 20; round += 1) await sendAll();
    const growth = (await readMemoryMib(service.pid)) - settled;
    assert.ok(growth < 60, `memory grew by ${growth} MiB`);
  },
);

/** Sends a valid request, which must succeed; returns its duration in milliseconds. */
async function activateOnce(): Promise<number> {
  const startedAt = performance.now();
  const response = await fetch(`${service.url}/api/v1/licenses/activate`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      license_key: licenseKey,
      machine_fingerprint: { machine_id: 'machine of a customer' },
    }),
  });
  assert.equal(response.status, 200);
  await response.body?.cancel();
  return performance.now() - startedAt;
}

/** Opens connections in groups, because the backlog of the listener is limited. */
async function openMany(
  count: number,
  open: () => Promise<RawConnection>,
): Promise<RawConnection[]> {
  const opened: RawConnection[] = [];
  while (opened.length < count) {
    opened.push(...(await Promise.all(Array.from({ length: 100 }, open))));
  }
  return opened;
}
