/** The link that `latchkey serve` prints while there is no operator. */
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';

import { createFirstLink, logMissingOperator } from '#server/features/operators/first-operator.ts';

import { startTestService, TEST_ISSUER } from '../harness.ts';
import { createTestOperator, TEST_PASSWORD } from '../operator-steps.ts';
import { problem } from './bodies.ts';

const service = await startTestService();
const { pool, clock, context } = service;

const LINK = '/api/v1/admin/session/link';
const REDEEM = '/api/v1/admin/session/redeem';

beforeEach(() =>
  pool.query('truncate operators, operator_sessions, operator_sign_in_links cascade'),
);

async function createToken(): Promise<string> {
  const link = await createFirstLink(context);
  assert.ok(link);
  return new URL(link.url).hash.slice(1);
}

function redeem(token: string, email = 'anna@example.com') {
  return service.post(REDEEM, { token, email, name: 'Anna', password: TEST_PASSWORD });
}

/** Returns the lines that are logged. */
async function logHint(): Promise<string[]> {
  const before = service.log.length;
  await logMissingOperator(context);
  return service.log.slice(before).filter((line) => line.includes('"event":"operator.none"'));
}

describe('with no operator', () => {
  test('the log names the command, and contains no link', async () => {
    await createToken();
    const lines = await logHint();
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /"no operator yet: run latchkey operator create EMAIL to use the/);
    assert.doesNotMatch(lines[0] ?? '', /welcome#/);
  });

  test('the link shows the role, and no address', async () => {
    const token = await createToken();
    const { status, body } = await service.post(LINK, { token });
    assert.equal(status, 200);
    assert.deepEqual(
      { ...Object(body), expires_at: null },
      { email: null, name: '', role: 'admin', expires_at: null },
    );
  });

  test('the link is below the public address, for 30 minutes', async () => {
    const link = await createFirstLink(context);
    assert.match(link?.url ?? '', new RegExp(`^${TEST_ISSUER}/console/welcome#[\\w-]{43}$`));
    assert.equal((link?.expiresAt.getTime() ?? 0) - clock.now().getTime(), 30 * 60_000);
    clock.advance(30 * 60_000);
    const token = new URL(link?.url ?? '').hash.slice(1);
    assert.deepEqual((await redeem(token)).body, problem('link_invalid'));
  });

  test('the link creates an administrator who is signed in', async () => {
    const { status, body, headers } = await redeem(await createToken());
    assert.equal(status, 200);
    const { email, name, role } = Object(body);
    assert.deepEqual([email, name, role], ['anna@example.com', 'Anna', 'admin']);
    assert.match(headers.getSetCookie()[0] ?? '', /^__Host-latchkey=/);
    const { rows } = await pool.query(
      'select actor, action, details from audit_log order by sequence desc limit 2',
    );
    assert.deepEqual(rows.map(({ actor, action }) => [actor, action]).reverse(), [
      ['cli:serve', 'operator.create'],
      ['operator:anna@example.com', 'operator.sign_in'],
    ]);
  });

  test('the link names an administrator without a name by the address', async () => {
    const body = { token: await createToken(), email: 'anna@example.com', password: TEST_PASSWORD };
    const answer = await service.post(REDEEM, body);
    assert.deepEqual([answer.status, Object(answer.body).name], [200, 'anna@example.com']);
  });

  test('the link needs an address', async () => {
    const token = await createToken();
    const { status, body } = await service.post(REDEEM, { token, password: TEST_PASSWORD });
    assert.equal(status, 422);
    assert.deepEqual(body, {
      detail: [{ loc: ['body', 'email'], msg: 'Field required', type: 'missing' }],
    });
    assert.equal(await service.count('operators'), 0);
  });

  test('of several links redeemed at once, one creates an operator', async () => {
    const tokens = await Promise.all([createToken(), createToken(), createToken()]);
    const answers = await Promise.all(
      tokens.map((token, index) => redeem(token, `anna${index}@example.com`)),
    );
    assert.deepEqual(
      answers.map(({ status }) => status).sort((a, b) => a - b),
      [200, 401, 401],
    );
    assert.equal(await service.count('operators'), 1);
  });
});

describe('with an operator', () => {
  test('no link is created, and an earlier one does not work', async () => {
    const token = await createToken();
    await createTestOperator(service, 'viewer');
    assert.deepEqual(await logHint(), []);
    assert.equal(await createFirstLink(context), null);
    assert.deepEqual((await service.post(LINK, { token })).body, problem('link_invalid'));
    assert.deepEqual((await redeem(token)).body, problem('link_invalid'));
    assert.equal(await service.count('operators'), 1);
  });
});
