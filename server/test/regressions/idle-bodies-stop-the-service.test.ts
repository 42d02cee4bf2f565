/**
 * Memory was reserved by the content length. So 1,446 requests with a content length of 65,536 bytes that sent only
 * their header fields, 156 KB in all, caused 503 `overloaded` for every other request for half a minute, and 18
 * requests with 2 MiB did the same for large bodies. The readiness probe stayed 200, and nothing was logged.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';

import { startTestService } from '../harness.ts';
import { activate, anyMachine, validate } from '../license-steps.ts';
import { openRawConnection, type RawConnection } from '../raw-http.ts';

const service = await startTestService();

function headOf(path: string, announcedBytes: number): string {
  return `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${announcedBytes}\r\n\r\n`;
}

test('requests that send no body reserve no memory for it', async () => {
  const { licenseKey } = await service.issue();
  const { machine_id: machineId } = anyMachine();
  const { activation_id: id } = await activate(service, licenseKey, { machine_id: machineId });
  using connections = new DisposableStack();
  const open = async (head: string): Promise<RawConnection> => {
    const connection = connections.use(await openRawConnection(service.url));
    connection.send(head);
    return connection;
  };
  for (let opened = 0; opened < 1_446; opened += 241) {
    const heads = Array.from({ length: 241 }, () => headOf('/api/v1/licenses/validate', 65_536));
    await Promise.all(heads.map(open));
  }
  const large = Array.from({ length: 18 }, () => headOf('/api/v1/events', 2 * 1024 * 1024));
  const stalled = await Promise.all(large.map(open));

  assert.equal((await validate(service, licenseKey, id, machineId)).valid, true);
  assert.equal((await service.get('/.well-known/jwks.json')).status, 200);
  // The inflated 100 kB need the memory for large bodies; the content does not matter.
  const response = await fetch(`${service.url}/api/v1/events`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    body: gzipSync(JSON.stringify({ padding: 'a'.repeat(100_000) })),
  });
  assert.equal(response.status, 422);
  await response.body?.cancel();
  const ready = await service.get('/api/v1/health/ready');
  assert.equal(ready.status, 200);
  assert.match(ready.text, /"load":\{"status":"healthy"\}/u);
  for (const connection of stalled) {
    assert.match(await connection.waitForClose(), /^HTTP\/1\.1 408 /u);
  }
});
