import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { eventually } from '../eventually.ts';
import { createExternalHome } from '../external-service.ts';
import { startMailRelay } from '../mail-relay.ts';
import { createHttpClient } from '../http-client.ts';
import { errorsOf, manyRecipients, OUTREACH_PATH, readOutreach } from '../outreach-steps.ts';
import type { ServiceProcess } from '../service-process.ts';
import { execute } from '../test-cluster.ts';

const API_KEY = 'an outreach key for the tests';
const BODY = { template: 'personal', recipients: manyRecipients(80) };

/** Longer than a lease lasts. */
const EXPIRE_LEASES = `update outreach_idempotency_keys set claimed_at = claimed_at - interval '1 minute'`;

const home = await createExternalHome();
after(() => home[Symbol.asyncDispose]());
const relay = await startMailRelay({ slowMs: 150 });
after(() => relay.close());

const settings = {
  LATCHKEY_SMTP_URL: relay.url,
  LATCHKEY_MAIL_FROM: 'Example Shop <shop@example.com>',
  LATCHKEY_OUTREACH_API_KEY: API_KEY,
};

const sendRequest = (service: ServiceProcess, idempotencyKey: string) =>
  createHttpClient(service.url).post(OUTREACH_PATH, BODY, {
    'x-api-key': API_KEY,
    'idempotency-key': idempotencyKey,
  });

const recipients = () => relay.mails.map(({ to }) => to[0]);

let service = await home.start(settings);

test('resumes a request after a kill without sending twice, and reports unknown outcomes', async () => {
  const first = sendRequest(service, 'killed');
  first.catch(() => {});
  await eventually(() => relay.mails.length >= 20);
  await service.stop('SIGKILL');
  await assert.rejects(first);
  const before = relay.mails.length;
  await execute(home.settings['DATABASE_URL'] ?? '', EXPIRE_LEASES);
  service = await home.start(settings);
  const answer = readOutreach(await sendRequest(service, 'killed'));
  const errors = errorsOf(answer);
  const unknown = errors.filter((error) => error === 'unknown').length;
  assert.ok(unknown > 0 && unknown <= 25, `${unknown} unknown`);
  assert.deepEqual(new Set(errors), new Set([null, 'unknown']));
  assert.ok(relay.mails.length > before);
  assert.equal(new Set(recipients()).size, recipients().length, 'a message was sent twice');
  // Messages with an unknown outcome may have been sent; all others were sent once.
  assert.ok(recipients().length >= 80 - unknown && recipients().length <= 80);
  const again = await sendRequest(service, 'killed');
  assert.deepEqual(again.body, answer);
});

test('reports sent and unsent messages when the service stops, and exits with 0', async () => {
  const before = relay.mails.length;
  const sending = sendRequest(service, 'stopped');
  await eventually(() => relay.mails.length >= before + 10);
  const startedAt = performance.now();
  const [answer, end] = await Promise.all([sending, service.stop('SIGTERM')]);
  assert.deepEqual(end, { code: 0, signal: null });
  assert.ok(performance.now() - startedAt < 10_000);
  assert.equal(answer.status, 200);
  const errors = errorsOf(readOutreach(answer));
  const count = (error: string | null) => errors.filter((each) => each === error).length;
  assert.ok(count(null) >= 5 && count('interrupted') > 20, JSON.stringify(errors));
  assert.equal(count(null) + count('interrupted') + count('unknown'), 80);
});
