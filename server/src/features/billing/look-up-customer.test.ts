import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';

import { countJobs } from '#server/jobs/queries.ts';
import { createSmtpTransport } from '#server/mail/smtp-transport.ts';

import { readHeader, startMailRelay } from '../../../test/mail-relay.ts';
import { startTestService } from '../../../test/harness.ts';
import {
  paddleCustomer,
  paddleId,
  paddleTransactionCompleted,
} from '../../../test/payment-providers/paddle-events.ts';
import { deliverPaddle } from '../../../test/payment-providers/paddle-steps.ts';
import { runDueJobs } from '../../../test/run-due-jobs.ts';
import { TEST_PRICES } from '../../../test/test-catalog.ts';
import { TEST_START } from '../../../test/test-clock.ts';
import type { CustomerDetails } from './facts.ts';
import { sendKeyEmail } from '../key-emails/send-key-email.ts';
import { lookUpCustomer } from './look-up-customer.ts';
import type { PaddleApi } from './providers/paddle/paddle-api.ts';
import { ProviderApiError } from './providers/provider-api.ts';

const ann: CustomerDetails = { email: 'ann@example.org', name: 'Ann', locale: 'de' };

/** The next responses of Paddle's API. */
let answer: () => Promise<CustomerDetails | null> = async () => ann;
const asked: string[] = [];
const paddleApi: PaddleApi = {
  findCustomer: (customerId) => {
    asked.push(customerId);
    return answer();
  },
  listEvents: async () => [],
};
const relay = await startMailRelay();
const mail = createSmtpTransport({ url: relay.url, from: 'shop@example.com', dkim: null });
const service = await startTestService({ mail, paddleApi });
const { context, pool } = service;
after(async () => {
  mail.close();
  await relay.close();
});

/** E-mails of earlier tests. */
let start = 0;

beforeEach(async () => {
  await pool.query('truncate jobs');
  start = relay.mails.length;
  asked.length = 0;
});

const deliver = (event: unknown) => deliverPaddle(service, event);

/** A purchase by an unknown customer; its custom data may contain an address. */
async function buy(email?: string): Promise<{ transactionId: string; customerId: string }> {
  const ids = { transactionId: paddleId('txn'), customerId: paddleId('ctm') };
  const lines = [{ priceId: TEST_PRICES.personal }];
  const customData = email === undefined ? null : { email };
  await deliver(paddleTransactionCompleted({ ...ids, subscriptionId: null, lines, customData }));
  return ids;
}

const listMails = () => relay.mails.slice(start).map(({ to }) => to.join());

test('looks up the address after a checkout and sends the keys once, in the language of the customer', async () => {
  const { transactionId, customerId } = await buy();
  await runDueJobs(context);
  assert.deepEqual(asked, [customerId]);
  assert.deepEqual(listMails(), ['ann@example.org']);
  const [sent = { from: '', to: [], raw: '' }] = relay.mails.slice(start);
  assert.match(readHeader(sent, 'Subject') ?? '', /^=\?UTF-8\?Q\?Ihr_Lizenz/u);
  await deliver(paddleTransactionCompleted({ transactionId, customerId, subscriptionId: null }));
  await deliver(paddleCustomer('updated', { customerId, email: 'ann@example.org' }));
  await runDueJobs(context);
  assert.equal(listMails().length, 1);
});

test('does not fail for an unknown customer, whom a later event may describe', async () => {
  answer = async () => null;
  const { customerId } = await buy();
  await runDueJobs(context);
  assert.deepEqual(listMails(), []);
  await deliver(paddleCustomer('updated', { customerId, email: 'bob@example.org' }));
  await runDueJobs(context);
  assert.deepEqual(listMails(), ['bob@example.org']);
  assert.deepEqual(await countJobs(pool), { open: 0, failed: 0 });
});

test('looks up a payer who names a license, and then upgrades it', async () => {
  answer = async () => ann;
  const { license } = await service.issue({ productId: 'personal', customerEmail: ann.email });
  const customerId = paddleId('ctm');
  await deliver(
    paddleTransactionCompleted({
      transactionId: paddleId('txn'),
      customerId,
      subscriptionId: null,
      lines: [{ priceId: TEST_PRICES.sellers }],
      customData: { license_id: license.id },
    }),
  );
  const readProduct = async (): Promise<unknown> =>
    (await pool.query('select product_id from licenses where id = $1', [license.id])).rows[0];
  assert.deepEqual(await readProduct(), { product_id: 'personal' });
  await runDueJobs(context);
  assert.deepEqual(asked, [customerId]);
  assert.deepEqual(await readProduct(), { product_id: 'sellers' });
});

test('the response overrides events before the request, but not later ones', async () => {
  const customerId = paddleId('ctm');
  const deliverEmail = (email: string, occurredAt: Date) =>
    deliver(paddleCustomer('updated', { customerId, email, occurredAt }));
  await deliverEmail('no address', new Date(TEST_START.getTime() - 1));
  answer = async () => ann;
  await lookUpCustomer(context, { provider: 'paddle', customerId });
  assert.equal(await readKnown(customerId), 'ann@example.org');
  answer = async () => {
    await deliverEmail('new@example.org', new Date(TEST_START.getTime() + 1));
    return ann;
  };
  await lookUpCustomer(context, { provider: 'paddle', customerId });
  assert.equal(await readKnown(customerId), 'new@example.org');
});

async function readKnown(customerId: string): Promise<unknown> {
  const { rows } = await pool.query('select email from billing_customers where customer_id = $1', [
    customerId,
  ]);
  return rows[0]?.email;
}

test('observes a rate limit of Paddle and throws other errors for a retry', async () => {
  const name = { provider: 'paddle', customerId: 'ctm_pause' };
  answer = () => Promise.reject(new ProviderApiError('a pause', { retryAfterSeconds: 600 }));
  await lookUpCustomer(context, name);
  const { rows } = await pool.query(
    `select key, attempts, extract(epoch from run_at - $1)::integer as pause from jobs`,
    [service.clock.now()],
  );
  assert.equal(rows.length, 1);
  assert.deepEqual([rows[0].key, rows[0].attempts], ['look_up_customer:paddle:ctm_pause', 0]);
  assert.equal(rows[0].pause, 600);
  answer = () => Promise.reject(new ProviderApiError('Paddle answers 503'));
  await assert.rejects(lookUpCustomer(context, name), /^ProviderApiError: Paddle answers 503$/u);
});

test('sends no request for other providers or without an API key', async () => {
  await lookUpCustomer(context, { provider: 'stripe', customerId: 'cus_1' });
  await lookUpCustomer(
    { ...context, paddleApi: null },
    { provider: 'paddle', customerId: 'ctm_1' },
  );
  assert.deepEqual(asked, []);
});

for (const [what, found, expected] of [
  ['the API reports another address', ann, 'ann@example.org'],
  ['the API reports the same address', { ...ann, email: 'typed@example.org' }, 'typed@example.org'],
  ['the API knows no such customer', null, 'typed@example.org'],
  ['the API knows no address', { ...ann, email: null }, 'typed@example.org'],
] as const) {
  test(`uses the address of the checkout after the look-up: ${what}`, async () => {
    answer = async () => found;
    const { customerId } = await buy('typed@example.org');
    await runDueJobs(context);
    assert.deepEqual(asked, [customerId]);
    assert.deepEqual(listMails(), [expected]);
  });
}

test('waits at most a quarter of an hour for the API', async () => {
  answer = () => Promise.reject(new ProviderApiError('Paddle answers 503'));
  const { transactionId } = await buy('typed@example.org');
  const name = { provider: 'paddle', transactionId };
  await sendKeyEmail(context, name);
  assert.deepEqual(listMails(), []);
  const { rows } = await pool.query(
    `select key, extract(epoch from run_at - $1)::integer as pause from jobs
     where key = $2`,
    [service.clock.now(), `send_key_email:paddle:${transactionId}`],
  );
  assert.deepEqual(rows, [{ key: `send_key_email:paddle:${transactionId}`, pause: 900 }]);
  // Then that job starts.
  await sendKeyEmail(context, name);
  assert.deepEqual(listMails(), ['typed@example.org']);
});

test('skips the look-up of a known customer and without an API key', async () => {
  const ids = { transactionId: paddleId('txn'), customerId: paddleId('ctm') };
  await deliver(paddleCustomer('created', { ...ids, email: 'known@example.org' }));
  const lines = [{ priceId: TEST_PRICES.personal }];
  await deliver(paddleTransactionCompleted({ ...ids, subscriptionId: null, lines }));
  await runDueJobs(context);
  const { transactionId } = await buy('typed@example.org');
  await sendKeyEmail({ ...context, paddleApi: null }, { provider: 'paddle', transactionId });
  assert.deepEqual(listMails(), ['known@example.org', 'typed@example.org']);
  assert.deepEqual(asked, []);
});

test('sends refused keys to the next address', async () => {
  answer = async () => ({ ...ann, email: 'wrong@example.org' });
  relay.script = { recipient: { code: 550, words: 'no such user' } };
  const { customerId } = await buy();
  await runDueJobs(context);
  assert.deepEqual(listMails(), []);
  relay.script = {};
  service.clock.advance(1);
  const occurredAt = service.clock.now();
  await deliver(paddleCustomer('updated', { customerId, email: 'right@example.org', occurredAt }));
  await runDueJobs(context);
  assert.deepEqual(listMails(), ['right@example.org']);
});
