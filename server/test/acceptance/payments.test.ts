import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';

import * as fc from 'fast-check';

import { sendKeyEmail } from '#server/features/key-emails/send-key-email.ts';
import {
  extendLicense,
  suspendLicense,
  type Extension,
} from '#server/features/licenses/change-license.ts';
import { addEndpoint } from '#server/features/outgoing-webhooks/add-endpoint.ts';
import type { MailMessage } from '#server/mail/mail-transport.ts';

import { startTestService } from '../harness.ts';
import {
  PADDLE_IDS,
  PADDLE_MONTH,
  paddleAdjustment,
  paddleCustomer,
  paddleId,
  paddlePeriod,
  paddleSubscription,
  paddleTransactionCompleted,
} from '../payment-providers/paddle-events.ts';
import { createPaddleSamples } from '../payment-providers/paddle-samples.ts';
import { deliverPaddle } from '../payment-providers/paddle-steps.ts';
import { TEST_PRICES } from '../test-catalog.ts';
import { DAY_MS, fromStart, TEST_START } from '../test-clock.ts';
import { readBody } from './bodies.ts';

const service = await startTestService();

async function deliver(...events: readonly unknown[]): Promise<void> {
  for (const event of events) {
    const { clock } = service;
    const occurredAt = new Date(String(readBody(event)['occurred_at']));
    // An event from the future is not applied.
    if (occurredAt > clock.now()) clock.set(occurredAt);
    await deliverPaddle(service, event);
  }
}

afterEach(() => service.clock.set(TEST_START));

async function check(transactionId: string): Promise<unknown[]> {
  const { body } = await service.get(`/api/v1/licenses/check/${transactionId}`);
  const { status, expires_at: expiresAt } = readBody(body);
  return [status, expiresAt];
}

function days(count: number): Date {
  return new Date(TEST_START.getTime() + count * DAY_MS);
}

/** A subscription paid for a month, whose checkout contains neither period nor subscription. */
async function subscribe() {
  const ids = { transactionId: paddleId('txn'), subscriptionId: paddleId('sub') };
  const lines = [{ priceId: TEST_PRICES.personal, cycle: PADDLE_MONTH }];
  const of = { ...ids, lines };
  await deliver(
    paddleTransactionCompleted({ ...of, subscriptionId: null }),
    paddleSubscription('created', { ...of, period: paddlePeriod(TEST_START, 31) }),
  );
  const renew = (count: number) =>
    paddleTransactionCompleted({
      ...of,
      transactionId: paddleId('txn'),
      origin: 'subscription_recurring',
      occurredAt: days(31 * count),
      period: paddlePeriod(days(31 * count), 31),
    });
  const { rows } = await service.pool.query<{ license_id: string }>(
    'select license_id from license_transactions where transaction_id = $1',
    [ids.transactionId],
  );
  return { ...ids, of, renew, licenseId: rows[0]?.license_id ?? '' };
}

function extend(licenseId: string, extension: Extension) {
  const change = { keyOrId: licenseId, actor: 'test', reason: 'requested by a test' };
  return extendLicense(service.context, change, extension);
}

describe('extensions by payment', () => {
  test('the snapshot of an unpaid renewal extends nothing', async () => {
    const { of, transactionId } = await subscribe();
    const next = { ...of, transactionId: null, period: paddlePeriod(days(31), 31) };
    await deliver(
      paddleSubscription('updated', { ...next, occurredAt: days(31) }),
      paddleSubscription('past_due', { ...next, occurredAt: days(32) }),
    );
    service.clock.set(days(33));
    assert.deepEqual(await check(transactionId), ['past_due', fromStart(31 * DAY_MS)]);
    service.clock.set(days(46));
    assert.deepEqual(await check(transactionId), ['expired', fromStart(31 * DAY_MS)]);
  });

  test('a paid renewal extends to the end of its period', async () => {
    const { renew, transactionId } = await subscribe();
    await deliver(renew(1));
    assert.deepEqual(await check(transactionId), ['active', fromStart(62 * DAY_MS)]);
  });
});

describe('manual changes', () => {
  test('an extension outlasts renewals that end earlier', async () => {
    const { licenseId, renew, transactionId } = await subscribe();
    await extend(licenseId, { until: days(70) });
    await deliver(renew(1));
    assert.deepEqual(await check(transactionId), ['active', fromStart(70 * DAY_MS)]);
    await deliver(renew(2));
    assert.deepEqual(await check(transactionId), ['active', fromStart(93 * DAY_MS)]);
  });

  test('a license that was made perpetual stays perpetual', async () => {
    const { licenseId, renew, transactionId } = await subscribe();
    await extend(licenseId, { until: null });
    await deliver(renew(1));
    assert.deepEqual(await check(transactionId), ['active', null]);
  });

  test('a suspension and a note outlast every payment and the end of a dispute', async () => {
    const { licenseId, renew, transactionId } = await subscribe();
    const change = { keyOrId: licenseId, actor: 'test', reason: 'requested by a test' };
    await suspendLicense(service.context, change);
    await service.pool.query(`update licenses set note = 'mine' where id = $1`, [licenseId]);
    const dispute = (action: string) =>
      paddleAdjustment('created', { adjustmentId: paddleId('adj'), transactionId, action });
    await deliver(renew(1), dispute('chargeback'), dispute('chargeback_reverse'));
    const { rows } = await service.pool.query(
      'select suspended_at, disputed_at, note from licenses where id = $1',
      [licenseId],
    );
    assert.deepEqual(rows, [{ suspended_at: TEST_START, disputed_at: null, note: 'mine' }]);
  });
});

/** Runs the jobs that send keys, and returns their recipients. */
async function sendQueuedKeys(transactionIds: readonly string[]): Promise<string[]> {
  const sent: MailMessage[] = [];
  const mail = {
    send: async (message: MailMessage) => {
      sent.push(message);
      return { outcome: 'sent' as const, messageId: message.messageToken };
    },
    close() {},
  };
  const { rows } = await service.pool.query<{ payload: { transactionId: string } }>(
    `select payload from jobs where payload->>'transactionId' = any ($1)`,
    [transactionIds],
  );
  for (const { payload } of rows) {
    await sendKeyEmail({ ...service.context, mail }, { provider: 'paddle', ...payload });
  }
  return sent.map(({ to }) => to.address);
}

describe('licenses created before all events arrived', () => {
  test('a license created by a later payment sends its key and is found only by its checkout', async () => {
    const [checkoutId, laterId] = [paddleId('txn'), paddleId('txn')];
    const of = {
      subscriptionId: paddleId('sub'),
      customerId: paddleId('ctm'),
      lines: [{ priceId: TEST_PRICES.personal, cycle: PADDLE_MONTH }],
    };
    await deliver(
      paddleTransactionCompleted({ ...of, transactionId: laterId, occurredAt: days(1) }),
      paddleTransactionCompleted({ ...of, transactionId: checkoutId }),
    );
    assert.deepEqual(await sendQueuedKeys([checkoutId, laterId]), []);
    await service.pool.query('truncate jobs');
    await deliver(
      paddleCustomer('created', { customerId: of.customerId, email: 'ann@example.org' }),
    );
    assert.deepEqual(await sendQueuedKeys([checkoutId, laterId]), ['ann@example.org']);
    assert.equal((await check(checkoutId))[0], 'active');
    assert.deepEqual(await check(laterId), ['pending', null]);
  });

  test('cancels the orphaned one of two licenses with a webhook, but without an e-mail', async () => {
    const change = { actor: 'test', reason: 'requested by a test' };
    const endpoint = { url: 'https://one.example.com/', eventTypes: [], description: null };
    await addEndpoint(service.context, endpoint, change);
    const [checkoutId, laterId] = [paddleId('txn'), paddleId('txn')];
    const [subscriptionId, customerId] = [paddleId('sub'), paddleId('ctm')];
    const of = {
      subscriptionId,
      customerId,
      lines: [{ priceId: TEST_PRICES.personal, cycle: PADDLE_MONTH }],
    };
    const lacking = { ...of, subscriptionId: null };
    await deliver(
      paddleCustomer('created', { customerId, email: 'ann@example.org' }),
      paddleTransactionCompleted({ ...lacking, transactionId: checkoutId }),
      paddleTransactionCompleted({ ...lacking, transactionId: laterId, occurredAt: days(1) }),
    );
    const both = [checkoutId, laterId];
    assert.equal((await sendQueuedKeys(both)).length, 2);
    await service.pool.query('truncate jobs, webhook_messages');
    await deliver(
      paddleSubscription('created', { ...of, transactionId: checkoutId }),
      paddleTransactionCompleted({ ...of, transactionId: laterId, occurredAt: days(1) }),
    );
    assert.equal((await check(laterId))[0], 'canceled');
    assert.deepEqual(await sendQueuedKeys(both), []);
    const { rows } = await service.pool.query(
      `select m.type, m.payload::jsonb->'data'->>'previous_status' as previous from webhook_messages m
       join billing_licenses made on made.license_id = m.license_id
       where made.transaction_id = $1`,
      [laterId],
    );
    assert.deepEqual(rows, [{ type: 'license.status_changed', previous: 'active' }]);
  });
});

/** One event of each type about a new order. */
function sampleOrder(): { transactionId: string; events: unknown[] } {
  const transactionId = paddleId('txn');
  const fresh = [
    [PADDLE_IDS.transaction, transactionId],
    [PADDLE_IDS.subscription, paddleId('sub')],
    [PADDLE_IDS.adjustment, paddleId('adj')],
    [PADDLE_IDS.customer, paddleId('ctm')],
  ] as const;
  const events = createPaddleSamples().map((event): unknown =>
    JSON.parse(fresh.reduce((text, [old, id]) => text.replaceAll(old, id), JSON.stringify(event))),
  );
  return { transactionId, events };
}

test("accepts the provider's events of every type in any order, and makes no monthly license perpetual", async () => {
  const catalog = service.context.catalog();
  const product = catalog.products.get('personal') ?? null;
  service.useCatalog({ ...catalog, findPrice: () => product });
  await fc.assert(
    fc.asyncProperty(fc.infiniteStream(fc.nat()), async (seeds) => {
      const { transactionId, events } = sampleOrder();
      assert.deepEqual(await check(transactionId), ['pending', null]);
      const shuffled = events
        .map((event) => ({ event, place: seeds.next().value ?? 0 }))
        .sort((a, b) => a.place - b.place);
      await deliver(...shuffled.map(({ event }) => event));
      const { rows } = await service.pool.query(
        `select id from licenses where subscription and expires_at is null
           and extended_until is distinct from 'infinity'`,
      );
      assert.deepEqual(rows, []);
      assert.notEqual((await check(transactionId))[0], 'pending');
    }),
    { numRuns: 5 },
  );
});
