/** Pings of Gumroad change nothing until a server that answers as Gumroad's API does has confirmed them. */
import assert from 'node:assert/strict';
import { after, beforeEach, describe, test } from 'node:test';

import { createSmtpTransport } from '#server/mail/smtp-transport.ts';
import { countJobs } from '#server/jobs/queries.ts';

import { startTestService, TEST_WEBHOOK_SECRETS } from '../../../test/harness.ts';
import type { Answer } from '../../../test/http-client.ts';
import { startMailRelay } from '../../../test/mail-relay.ts';
import {
  GUMROAD_PRODUCT,
  GUMROAD_SELLER,
  gumroadMembershipPing,
  gumroadMembershipSale,
  gumroadPing,
  gumroadSale,
  gumroadSubscriber,
  startGumroadApiStub,
} from '../../../test/payment-providers/gumroad-sales.ts';
import { answerJson } from '../../../test/payment-providers/paddle-api-stub.ts';
import { runDueJobs } from '../../../test/run-due-jobs.ts';
import { testCatalog } from '../../../test/test-catalog.ts';
import { createTestClock, DAY_MS, TEST_START } from '../../../test/test-clock.ts';
import { lookUpEvent } from './look-up-event.ts';
import { createGumroadApi } from './providers/gumroad/gumroad-api.ts';
import { rollUpDueRevenue } from './roll-up-revenue.ts';
import { replayEvents, retryDueEvents, type ReplayOutcome } from './stored-events.ts';

const CATALOG = `
key_prefix: LK
trial: { product: studio, features: [] }
products:
  - id: studio
    name: Studio
    tier: studio
    max_activations: 2
    prices: { gumroad: ['${GUMROAD_PRODUCT}', '${GUMROAD_PRODUCT}:Pro'] }
`;

const TOKEN = 'the access token of the tests';
const [SECRET = ''] = TEST_WEBHOOK_SECRETS.gumroad;
const PATH = `/api/v1/webhooks/gumroad/${encodeURIComponent(SECRET)}`;
const SALE = String(gumroadSale()['id']);

const gumroad = await startGumroadApiStub(TOKEN);
const clock = createTestClock();
const gumroadApi = createGumroadApi({ url: gumroad.url, accessToken: TOKEN, clock });
const relay = await startMailRelay();
const mail = createSmtpTransport({ url: relay.url, from: 'shop@example.com', dkim: null });
const service = await startTestService({ clock, catalog: testCatalog(CATALOG), gumroadApi, mail });
const { context, pool } = service;
after(async () => {
  mail.close();
  await relay.close();
});

/** E-mails of earlier tests. */
let start = 0;

beforeEach(async () => {
  clock.set(TEST_START);
  gumroad.sales = [];
  gumroad.subscribers = [];
  gumroad.failure = null;
  start = relay.mails.length;
  await pool.query(
    'truncate jobs, billing_events, billing_payments, billing_subscriptions, billing_adjustments, billing_aliases, billing_licenses, license_transactions, billing_sales, key_emails',
  );
});

/** Sends a ping as a form. */
function ping(fields: Record<string, string>, path = PATH): Promise<Answer> {
  return service.send('POST', path, {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
  });
}

async function listEvents(): Promise<string[]> {
  const { rows } = await pool.query(
    `select provider || ' ' || type || ' ' || status as line from billing_events order by received_at, type, event_id`,
  );
  return rows.map(({ line }) => String(line));
}

async function readPing(): Promise<{
  message: unknown;
  attempts: unknown;
  status: unknown;
  eventId: string;
}> {
  const { rows } = await pool.query(
    `select message, attempts, status, event_id as "eventId" from billing_events where type not like '%looked_up'`,
  );
  assert.equal(rows.length, 1);
  return rows[0];
}

/** The license of a sale as the front end sees it: its status and its end. */
async function check(saleId = SALE): Promise<unknown[]> {
  const { body } = await service.get(`/api/v1/licenses/check/${encodeURIComponent(saleId)}`);
  assert.ok(typeof body === 'object' && body !== null);
  const { status, expires_at: expiresAt } = { status: null, expires_at: null, ...body };
  return [status, expiresAt];
}

const listMails = () => relay.mails.slice(start).map(({ to }) => to.join());

describe('a sale', () => {
  test('is answered at once, and creates the license once Gumroad has confirmed it', async () => {
    gumroad.sales = [gumroadSale()];
    const answer = await ping(gumroadPing('sale'));
    const message = 'The event is not signed: Gumroad is asked for its facts.';
    const { eventId } = await readPing();
    assert.deepEqual(
      [answer.status, answer.body],
      [200, { status: 'deferred', message, event_id: eventId }],
    );
    assert.deepEqual(await check(), ['pending', null]);
    await runDueJobs(context);
    assert.deepEqual(await check(), ['active', null]);
    assert.deepEqual(await listEvents(), [
      'gumroad sale processed',
      'gumroad sale.looked_up processed',
    ]);
    assert.deepEqual(listMails(), ['ann@example.com']);
  });

  test('that Gumroad does not know creates nothing, whatever the ping says', async () => {
    await ping(gumroadPing('sale'));
    await runDueJobs(context);
    const { status, message, attempts } = await readPing();
    assert.deepEqual(
      [status, message, attempts],
      ['deferred', 'The account of LATCHKEY_GUMROAD_ACCESS_TOKEN has no such sale.', 2],
    );
    assert.deepEqual(await check(), ['pending', null]);
    assert.deepEqual(await countJobs(pool), { open: 0, failed: 0 });
  });

  test('has the amount, product and address that Gumroad confirms, not those of the ping', async () => {
    gumroad.sales = [gumroadSale()];
    const forged = {
      email: 'eve@evil.example',
      price: '1',
      product_id: 'another==',
      quantity: '99',
    };
    await ping({ ...gumroadPing('sale'), ...forged });
    await runDueJobs(context);
    assert.deepEqual(listMails(), ['ann@example.com']);
    const { rows } = await pool.query(
      'select max_activations from licenses order by created_at desc limit 1',
    );
    assert.deepEqual(rows, [{ max_activations: 2 }]);
    const stored = await pool.query(
      `select string_agg(encode(raw, 'escape'), ' ') as text from billing_events`,
    );
    assert.doesNotMatch(String(stored.rows[0]?.text), /evil|another/u);
  });

  test('that is reported again asks again, and creates nothing twice', async () => {
    gumroad.sales = [gumroadSale()];
    await ping(gumroadPing('sale'));
    await runDueJobs(context);
    const asked = gumroad.requests.length;
    const again = await ping({ ...gumroadPing('sale'), retry_count: '1' });
    assert.match(again.text, /"status":"duplicate"/u);
    await runDueJobs(context);
    assert.equal(gumroad.requests.length, asked + 1);
    assert.deepEqual(await listEvents(), [
      'gumroad sale processed',
      'gumroad sale.looked_up processed',
    ]);
    assert.equal(await service.count('billing_licenses'), 1);
    assert.deepEqual(listMails(), ['ann@example.com']);
  });

  test('may also be sent as JSON', async () => {
    gumroad.sales = [gumroadSale()];
    const answer = await service.post(PATH, gumroadPing('sale'));
    assert.equal(answer.status, 200);
    await runDueJobs(context);
    assert.deepEqual(await check(), ['active', null]);
  });

  test('by the seller is one of the test mode', async () => {
    gumroad.sales = [gumroadSale({ purchaser_id: GUMROAD_SELLER })];
    await ping(gumroadPing('sale', gumroadSale(), { test: 'true' }));
    await runDueJobs(context);
    assert.deepEqual(await listEvents(), [
      'gumroad:test sale processed',
      'gumroad:test sale.looked_up processed',
    ]);
    const { rows } = await pool.query('select provider from billing_licenses');
    assert.deepEqual(rows, [{ provider: 'gumroad:test' }]);
  });
});

describe('after a sale', () => {
  beforeEach(async () => {
    gumroad.sales = [gumroadSale()];
    await ping(gumroadPing('sale'));
    await runDueJobs(context);
  });

  test('its refund ends the license', async () => {
    gumroad.sales = [gumroadSale({ refunded: true })];
    await ping(gumroadPing('refund', gumroad.sales[0]));
    await runDueJobs(context);
    assert.deepEqual(await check(), ['refunded', null]);
  });

  test('its dispute suspends the license until it is won', async () => {
    gumroad.sales = [gumroadSale({ disputed: true, chargedback: true })];
    await ping(gumroadPing('dispute', gumroad.sales[0]));
    await runDueJobs(context);
    assert.deepEqual(await check(), ['suspended', null]);
    clock.advance(DAY_MS);
    gumroad.sales = [gumroadSale({ disputed: true, dispute_won: true })];
    await ping(gumroadPing('dispute_won', gumroad.sales[0]));
    await runDueJobs(context);
    assert.deepEqual(await check(), ['active', null]);
  });

  test('a refund that only a ping reports changes nothing', async () => {
    await ping(gumroadPing('refund', gumroadSale({ refunded: true })));
    await runDueJobs(context);
    assert.deepEqual(await check(), ['active', null]);
  });
});

test('a gift adds to revenue what its buyer paid, and needs attention once that is paid back', async () => {
  const sent = gumroadSale({ is_gift_sender_purchase: true });
  const gift = { is_gift_receiver_purchase: true, price: 0, purchase_email: 'bob@example.com' };
  const received = gumroadSale({ id: 'gift==', ...gift });
  gumroad.sales = [sent, received];
  await ping(gumroadPing('sale', sent));
  await ping(gumroadPing('sale', received));
  await runDueJobs(context);
  assert.deepEqual(await check('gift=='), ['active', null]);
  assert.deepEqual(listMails(), ['bob@example.com']);
  assert.deepEqual(await sumRevenue(), { gross: 1_999, refunds: 0 });

  gumroad.sales = [{ ...sent, refunded: true }, received];
  await ping(gumroadPing('refund', gumroad.sales[0]));
  await runDueJobs(context);
  assert.deepEqual(await sumRevenue(), { gross: 1_999, refunds: 1_999 });
  assert.deepEqual(await check('gift=='), ['active', null]);
  // Another event of the sale computes its purchase again, which does not answer the question.
  gumroad.sales = [{ ...sent, refunded: true, disputed: true, dispute_won: true }, received];
  await ping(gumroadPing('dispute_won', gumroad.sales[0]));
  await runDueJobs(context);
  const { rows } = await pool.query(
    `select status, message from billing_events where type = 'gift.looked_up'`,
  );
  assert.equal(rows.length, 1);
  assert.match(rows[0].message, /^Needs attention: the buyer of a gift/u);
});

async function sumRevenue(): Promise<unknown> {
  await rollUpDueRevenue(context);
  const { rows } = await pool.query(
    'select sum(gross)::integer as gross, sum(refunds)::integer as refunds from billing_revenue_months',
  );
  return rows[0];
}

test('a membership is bought, renewed, canceled and restarted', async () => {
  const [april, may] = ['2027-04-01T12:00:00.000Z', '2027-05-01T12:00:00.000Z'];
  const bought = gumroadMembershipSale();
  gumroad.sales = [bought];
  gumroad.subscribers = [gumroadSubscriber()];
  await ping(gumroadPing('sale', bought));
  await runDueJobs(context);
  assert.deepEqual(await check(), ['active', april]);

  clock.set(new Date(april));
  const charge = { id: 'second==', recurring_charge: true, created_at: april };
  const renewed = gumroadMembershipSale(charge);
  gumroad.sales = [bought, renewed];
  await ping(gumroadPing('sale', renewed, { is_recurring_charge: 'true' }));
  await runDueJobs(context);
  assert.deepEqual(await check(), ['active', may]);

  clock.advance(DAY_MS);
  const pending = { status: 'pending_cancellation', cancelled_at: may };
  gumroad.subscribers = [gumroadSubscriber(pending)];
  await ping(gumroadMembershipPing('cancellation', { cancelled: 'true', cancelled_at: may }));
  await runDueJobs(context);
  assert.deepEqual(await check(), ['active', may]);

  clock.set(new Date(may));
  const over = { status: 'cancelled', cancelled_at: may, ended_at: may };
  gumroad.subscribers = [gumroadSubscriber(over)];
  await ping(gumroadMembershipPing('subscription_ended', { ended_at: may }));
  await runDueJobs(context);
  assert.deepEqual(await check(), ['canceled', may]);

  clock.advance(DAY_MS);
  const again = { ...charge, id: 'third==', created_at: clock.now().toISOString() };
  gumroad.subscribers = [gumroadSubscriber()];
  gumroad.sales = [gumroadMembershipSale(again)];
  await ping(gumroadMembershipPing('subscription_restarted', { restarted_at: again.created_at }));
  await ping(gumroadPing('sale', gumroad.sales[0]));
  await runDueJobs(context);
  assert.deepEqual(await check(), ['active', '2027-06-02T12:00:00.000Z']);
  assert.equal(await service.count('billing_licenses'), 1);
});

describe('when Gumroad cannot be asked', () => {
  beforeEach(async () => {
    gumroad.sales = [gumroadSale()];
    gumroad.failure = answerJson(401, '{}');
    await ping(gumroadPing('sale'));
    await runDueJobs(context);
  });

  test('the event keeps the cause, and is looked up by a later retry', async () => {
    const { status, message, attempts } = await readPing();
    assert.deepEqual([status, message, attempts], ['deferred', 'Gumroad answers 401', 2]);
    assert.ok(service.log.some((line) => line.includes('payments.look_up_failed')));
    gumroad.failure = null;
    assert.equal(await retryDueEvents(context, 10), 0);
    clock.advance(2 * 60_000);
    assert.equal(await retryDueEvents(context, 10), 1);
    await runDueJobs(context);
    assert.deepEqual(await check(), ['active', null]);
    assert.equal((await readPing()).attempts, 2);
  });

  test('it needs an operator after four days, whose replay asks again', async () => {
    for (let attempt = 3; attempt <= 14; attempt += 1) {
      clock.advance(DAY_MS / 2);
      await retryDueEvents(context, 10);
      await runDueJobs(context);
    }
    const { status, attempts, eventId } = await readPing();
    assert.deepEqual([status, attempts], ['failed', 14]);
    gumroad.failure = null;
    const outcomes: ReplayOutcome[] = [];
    const filter = { eventId, provider: null, status: null, since: null };
    await replayEvents(
      context,
      { filter, actor: 'test', reason: 'the token is right now' },
      (outcome) => outcomes.push(outcome),
    );
    assert.deepEqual(
      outcomes.map((outcome) => outcome.status),
      ['deferred'],
    );
    await runDueJobs(context);
    assert.deepEqual([(await readPing()).status, await check()], ['processed', ['active', null]]);
  });

  test('without an access token the event says which setting is missing', async () => {
    const { eventId } = await readPing();
    await lookUpEvent({ ...context, gumroadApi: null }, { provider: 'gumroad', eventId });
    const { message } = await readPing();
    assert.equal(message, 'LATCHKEY_GUMROAD_ACCESS_TOKEN is not set, so Gumroad cannot be asked.');
  });

  test('a rate limit delays the look-up and is no attempt', async () => {
    const { eventId, attempts } = await readPing();
    gumroad.failure = answerJson(429, '{}', { 'retry-after': '600' });
    await lookUpEvent(context, { provider: 'gumroad', eventId });
    assert.equal((await readPing()).attempts, attempts);
    const { rows } = await pool.query(
      `select key, extract(epoch from run_at - $1)::integer as pause from jobs where name = 'look_up_event'`,
      [clock.now()],
    );
    assert.deepEqual(rows, [{ key: `look_up_event:gumroad:${eventId}`, pause: 600 }]);
  });

  test('a stop of the service is no attempt', async () => {
    const { eventId, attempts } = await readPing();
    const stopped = AbortSignal.abort(new Error('stopping'));
    await assert.rejects(lookUpEvent(context, { provider: 'gumroad', eventId }, stopped));
    assert.equal((await readPing()).attempts, attempts);
  });
});

describe('the secret in the address', () => {
  test('is required, and a wrong one stores nothing', async () => {
    for (const path of [
      '/api/v1/webhooks/gumroad',
      '/api/v1/webhooks/gumroad/another-secret-of-someone',
      `${PATH}x`,
    ]) {
      assert.equal((await ping(gumroadPing('sale'), path)).status, 401, path);
    }
    assert.equal(await service.count('billing_events'), 0);
  });

  test('and the token of the API are in no line of the log, and not in the database', async () => {
    await ping(gumroadPing('sale'));
    await ping({ resource_name: 'sale' });
    gumroad.failure = answerJson(500, '{}');
    await runDueJobs(context);
    const secrets = [SECRET, encodeURIComponent(SECRET), TOKEN];
    for (const secret of secrets) {
      assert.ok(!service.log.some((line) => line.includes(secret)));
    }
    const { rows } = await pool.query(
      `select string_agg(event::text || encode(raw, 'escape'), ' ') as text from billing_events as event`,
    );
    assert.ok(!secrets.some((secret) => String(rows[0]?.text).includes(secret)));
  });
});

test('a ping that names nothing is rejected and stored, and one of another kind is ignored', async () => {
  assert.equal((await ping({ resource_name: 'sale' })).status, 422);
  const other = await ping(gumroadPing('payout'));
  assert.match(other.text, /No license depends on payout\./u);
  await runDueJobs(context);
  assert.equal(gumroad.requests.filter(({ url }) => url.includes('payout')).length, 0);
  assert.deepEqual(await listEvents(), ['gumroad payout ignored', 'gumroad unreadable failed']);
});
