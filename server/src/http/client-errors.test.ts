import assert from 'node:assert/strict';
import { test } from 'node:test';

import { openRawConnection } from '../../test/raw-http.ts';
import { createTestApp } from '../../test/test-app.ts';

test('a body that does not arrive in time is 408, and closes the connection', async (t) => {
  const app = createTestApp();
  t.after(() => app.close());
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  app.server.requestTimeout = 200;
  app.server.headersTimeout = 200;
  using connection = await openRawConnection(url);
  connection.send('POST /api/v1/trial/start HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{"m');
  const answer = await connection.waitForClose();
  assert.match(answer, /^HTTP\/1\.1 408 Request Timeout\r\n/u);
  assert.match(answer, /^content-type: application\/problem\+json; charset=utf-8\r$/mu);
  assert.match(answer, /"code":"request_timeout"\}$/u);
});

test('closes a connection without data after the timeout of headers', async (t) => {
  const app = createTestApp();
  t.after(() => app.close());
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  app.server.headersTimeout = 200;
  using connection = await openRawConnection(url);
  assert.match(await connection.waitForClose(), /^HTTP\/1\.1 408 Request Timeout\r\n/u);
});
