import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import {
  confirmSubscription,
  hashConfirmationToken,
  createConfirmationToken,
} from '#server/features/subscribers/confirm.ts';
import { eraseSubscriber } from '#server/features/subscribers/manual-changes.ts';
import { upsertConfirmation } from '#server/features/subscribers/queries/confirmations.ts';
import { hashAddress } from '#server/features/suppressions/address-hash.ts';
import { findSuppression } from '#server/features/suppressions/queries/suppressions.ts';
import { createUnsubscribeToken } from '#server/features/suppressions/unsubscribe.ts';
import type { MailTransport } from '#server/mail/mail-transport.ts';

import { eventually } from '../eventually.ts';
import { HOUR_MS, TEST_START } from '../test-clock.ts';
import { runConcurrently, roundRobin } from './concurrency.ts';
import { openDeployments } from './deployments.ts';

/** With mail, subscriptions need a confirmation. Nothing is sent: these tests run no jobs, and the workers' relay does not answer. */
const mail: MailTransport = {
  send: () => Promise.reject(new Error('nothing is sent in these tests')),
  close: () => {},
};
const settings = { LATCHKEY_SMTP_URL: 'smtp://127.0.0.1:1', LATCHKEY_MAIL_FROM: 'a@example.com' };
const { one, two, pick, isOfWorkers } = await openDeployments(settings, { mail });
const pickService = roundRobin([one, two] as const);
const skip = isOfWorkers && 'needs the clock of the tests';

const { context, pool } = one;
const EMAIL = 'ada@example.com';
const addressHash = hashAddress(context.vault, EMAIL);

beforeEach(async () => {
  if (!isOfWorkers) one.clock.set(TEST_START);
  await pool.query('truncate subscribers, suppressions, subscriber_confirmations, jobs');
});

const subscribe = (index: number) =>
  pick(index).post('/api/v1/subscribers', { email: index % 3 === 0 ? EMAIL : 'ADA@Example.com' });

test('30 concurrent subscriptions of one address at two processes create one row, one id and one job', async () => {
  const answers = await runConcurrently(30, subscribe);
  const bodies = answers.map(({ status, body }) => {
    assert.equal(status, 201);
    return Object(body);
  });
  assert.equal(new Set(bodies.map(({ id }) => id)).size, 1);
  assert.equal(await one.count('subscribers'), 1);
  const { rows } = await pool.query(`select from jobs where name = 'send_confirmation'`);
  assert.equal(rows.length, 1);
});

test('an erasure concurrent with subscriptions keeps no address, in any order', async () => {
  for (let round = 0; round < 20; round++) {
    const erasing = eraseSubscriber(context, { email: EMAIL, actor: 'test', reason: 'race' });
    await Promise.all([...Array.from({ length: 4 }, (_, index) => subscribe(index)), erasing]);
    const { rows } = await pool.query('select email from subscribers where email is not null');
    assert.deepEqual(rows, []);
    assert.equal((await findSuppression(pool, addressHash))?.reason, 'erased');
    await pool.query('truncate subscribers, suppressions');
  }
});

const LINK = { requestedAt: TEST_START, attemptedAt: TEST_START, mailboxHash: '00' };

test('an unsubscription during the confirmation of an older request wins', { skip }, async () => {
  await subscribe(0);
  const token = createConfirmationToken(context.vault, addressHash, TEST_START);
  const tokenHash = hashConfirmationToken(token);
  assert.ok(tokenHash !== null);
  const expiresAt = new Date(TEST_START.getTime() + 48 * HOUR_MS);
  await upsertConfirmation(pool, { ...LINK, tokenHash, addressHash, expiresAt });
  one.clock.advance(HOUR_MS);

  const holder = await pool.connect();
  await holder.query('begin; select 1 from subscribers for update');
  const confirming = confirmSubscription(context, token);
  await eventually(async () => {
    const { rowCount } = await pool.query(
      `select 1 from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock' and query like 'update subscribers%'`,
    );
    return rowCount === 1;
  });
  const path = `/u/${createUnsubscribeToken(context.vault, EMAIL)}`;
  assert.equal((await two.send('POST', path)).status, 200);
  await holder.query('commit');
  holder.release();
  await confirming;
  assert.equal((await findSuppression(pool, addressHash))?.reason, 'unsubscribed');
});

test('ten concurrent confirmations of one link confirm once', { skip }, async () => {
  await subscribe(0);
  const token = createConfirmationToken(context.vault, addressHash, TEST_START);
  const tokenHash = hashConfirmationToken(token);
  assert.ok(tokenHash !== null);
  const expiresAt = new Date(TEST_START.getTime() + HOUR_MS);
  await upsertConfirmation(pool, { ...LINK, tokenHash, addressHash, expiresAt });
  const views = await runConcurrently(10, (index) =>
    confirmSubscription(pickService(index).context, token),
  );
  const decisions = views.map(({ decision }) => decision).sort();
  assert.deepEqual(decisions, [...Array.from({ length: 9 }, () => 'already'), 'confirm']);
});
