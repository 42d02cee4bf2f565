import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { eventually } from '../eventually.ts';
import { startMailRelay } from '../mail-relay.ts';
import { createHttpClient } from '../http-client.ts';
import { errorsOf, manyRecipients, OUTREACH_PATH, readOutreach } from '../outreach-steps.ts';
import { makeServiceHome, type ServiceProcess } from '../service-process.ts';

const API_KEY = 'an outreach key for the tests';
const BODY = { template: 'personal', recipients: manyRecipients(80) };

const home = await makeServiceHome();
after(() => home[Symbol.asyncDispose]());
const relay = await startMailRelay({ slowMs: 150 });
after(() => relay.close());

const settings = {
  LATCHKEY_SMTP_URL: relay.url,
  LATCHKEY_MAIL_FROM: 'Example Shop <shop@example.com>',
  LATCHKEY_OUTREACH_API_KEY: API_KEY,
};

const ask = (service: ServiceProcess, idempotencyKey: string) =>
  createHttpClient(service.url).post(OUTREACH_PATH, BODY, {
    'x-api-key': API_KEY,
    'idempotency-key': idempotencyKey,
  });

const mailed = () => relay.mails.map(({ to }) => to[0]);

test('a process killed while it sends: the same request goes on, mails nobody twice, and tells who is in doubt', async () => {
  const killed = await home.start(settings);
  const first = ask(killed, 'killed');
  first.catch(() => {});
  await eventually(() => relay.mails.length >= 20);
  await killed.stop('SIGKILL');
  await assert.rejects(first);
  const before = relay.mails.length;
  const next = await home.start(settings);
  const answer = readOutreach(await ask(next, 'killed'));
  const errors = errorsOf(answer);
  const unknown = errors.filter((error) => error === 'unknown').length;
  assert.ok(unknown > 0 && unknown <= 25, `${unknown} unknown`);
  assert.deepEqual(new Set(errors), new Set([null, 'unknown']));
  assert.ok(relay.mails.length > before);
  assert.equal(new Set(mailed()).size, mailed().length, 'somebody was mailed twice');
  // Those in doubt may have been mailed; everybody else was, once.
  assert.ok(mailed().length >= 80 - unknown && mailed().length <= 80);
  const again = await ask(next, 'killed');
  assert.deepEqual(again.body, answer);
  await next.stop();
});

test('a process told to stop while it sends says what was sent and what was not, and ends well', async () => {
  const service = await home.start(settings);
  const before = relay.mails.length;
  const asked = ask(service, 'stopped');
  await eventually(() => relay.mails.length >= before + 10);
  const startedAt = performance.now();
  const [answer, end] = await Promise.all([asked, service.stop('SIGTERM')]);
  assert.deepEqual(end, { code: 0, signal: null });
  assert.ok(performance.now() - startedAt < 10_000);
  assert.equal(answer.status, 200);
  const errors = errorsOf(readOutreach(answer));
  const count = (error: string | null) => errors.filter((each) => each === error).length;
  assert.ok(count(null) >= 5 && count('interrupted') > 20, JSON.stringify(errors));
  assert.equal(count(null) + count('interrupted') + count('unknown'), 80);
});
