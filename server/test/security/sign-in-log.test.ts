/** Strangers, who can fail to sign in hundreds of times a second from changing networks, must not fill the disk with lines. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startTestService } from '../harness.ts';
import { anyAddress } from '../http-client.ts';
import { redeemAsBrowser } from '../operator-steps.ts';

const SESSION = '/api/v1/admin/session';
const TRIES = 30;

const service = await startTestService();

async function failAsStranger(): Promise<void> {
  const assertion = {
    credential_id: 'A'.repeat(22),
    client_data: 'e30',
    authenticator_data: 'AAAA',
    signature: 'AAAA',
  };
  const headers = { 'x-forwarded-for': anyAddress() };
  const answer = await service.post(`${SESSION}/passkey`, assertion, headers);
  assert.equal(answer.status, 401, answer.text);
}

const findLines = (from: number): string[] =>
  service.log.slice(from).filter((line) => line.includes('"operator.sign_in_failed"'));

test('logs ten failures of unknown accounts in a minute, and then still those of an account', async () => {
  const { email } = await redeemAsBrowser(service);
  const start = service.log.length;
  for (let tries = 0; tries < TRIES; tries++) await failAsStranger();
  const logged = findLines(start).length;
  // A new minute may begin during the tries.
  assert.ok(logged >= 10 && logged <= 20, `${logged} lines`);

  const before = service.log.length;
  const headers = { 'x-forwarded-for': anyAddress() };
  const answer = await service.post(SESSION, { email, password: 'a wrong password' }, headers);
  assert.equal(answer.status, 401);
  const [line = '', ...others] = findLines(before);
  assert.deepEqual(others, []);
  assert.match(line, /"operatorId":"[\da-f-]{36}"/u);
  assert.ok(!line.includes(email));
});
