import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { CONCURRENT_MESSAGES } from '#server/features/outreach/deliver-messages.ts';
import { createSmtpTransport } from '#server/mail/smtp-transport.ts';

import { startTestService } from '../harness.ts';
import { activate, anyMachine } from '../license-steps.ts';
import {
  errorsOf,
  MAIL_FROM,
  createSender,
  manyRecipients,
  readOutreach,
} from '../outreach-steps.ts';

/** Shorter than the limit of a service. */
const TOTAL_MS = 3_000;

/** Starts a relay that accepts connections and never responds. */
async function startUnresponsiveRelay(): Promise<{ url: string; connections: () => number }> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    sockets.push(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  return { url: `smtp://127.0.0.1:${address.port}`, connections: () => sockets.length };
}

test('an unresponsive relay delays no request beyond its deadline, and no other route', async () => {
  const relay = await startUnresponsiveRelay();
  const transport = createSmtpTransport({
    url: relay.url,
    from: MAIL_FROM,
    dkim: null,
    maxConnections: CONCURRENT_MESSAGES,
  });
  after(() => transport.close());
  const service = await startTestService({
    mailFrom: MAIL_FROM,
    outreachMail: transport,
    outreachLimits: { totalMs: TOTAL_MS, maxConcurrent: 2, maxWaiting: 2, maxWaitMs: 500 },
  });
  const { send } = await createSender(service);
  const { licenseKey } = await service.issue();
  const machine = anyMachine();
  const { activation_id } = await activate(service, licenseKey, machine);
  const validation = { license_key: licenseKey, activation_id, machine_id: machine.machine_id };

  const startedAt = performance.now();
  const pending = [1, 2, 3, 4].map(() => send({ recipients: manyRecipients(500) }));
  const timesMs: number[] = [];
  while (performance.now() < startedAt + TOTAL_MS - 200) {
    const sentAt = performance.now();
    assert.equal((await service.post('/api/v1/licenses/validate', validation)).status, 200);
    timesMs.push(performance.now() - sentAt);
    await sleep(10);
  }
  const answers = await Promise.all(pending);
  const tookMs = performance.now() - startedAt;
  assert.ok(tookMs >= TOTAL_MS && tookMs < TOTAL_MS + 15_000, `${tookMs} ms`);
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 200, 503, 503],
  );
  for (const answer of answers.filter(({ status }) => status === 200)) {
    const result = readOutreach(answer);
    assert.deepEqual(new Set(errorsOf(result)), new Set(['deadline']));
    assert.deepEqual([result.total, result.sent, result.failed], [500, 0, 500]);
  }
  assert.ok(relay.connections() > 0);
  // None waited for the relay, which answers nothing before the deadline.
  assert.ok(timesMs.length > 0);
  assert.ok(Math.max(...timesMs) < TOTAL_MS, `a validation took ${Math.max(...timesMs)} ms`);
});
