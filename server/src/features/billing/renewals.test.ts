import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';

import { createSmtpTransport } from '#server/mail/smtp-transport.ts';

import { startTestService } from '../../../test/harness.ts';
import { startMailRelay } from '../../../test/mail-relay.ts';
import { openStandardShop } from '../../../test/payment-providers/standard-shop.ts';
import { testCatalog } from '../../../test/test-catalog.ts';
import { DAY_MS } from '../../../test/test-clock.ts';
import { applyCatalogToSold } from './apply-catalog-to-sold.ts';
import { sendKeyEmail } from '../key-emails/send-key-email.ts';
import { replayEvents } from './stored-events.ts';

const CATALOG = testCatalog(`
key_prefix: LK
trial: { product: year }
products:
  - { id: year, name: Year, tier: year, max_activations: 2, duration_days: 365, prices: { standard: [year] } }
  - { id: pro, name: Pro, tier: pro, max_activations: 5, duration_days: 365, prices: { standard: [pro] } }
  - { id: month, name: Month, tier: month, max_activations: 1, prices: { standard: [month] } }
`);

const relay = await startMailRelay();
const mail = createSmtpTransport({ url: relay.url, from: 'Shop <shop@example.com>', dkim: null });
const service = await startTestService({ mail, catalog: CATALOG });
after(async () => {
  mail.close();
  await relay.close();
});

const { context, pool, clock } = service;
const shop = openStandardShop(service);

function order(transactionId: string, priceId: string, more: object = {}) {
  return {
    transaction_id: transactionId,
    customer: { id: 'c_ann', email: 'ann@example.com', name: 'Ann', locale: 'en' },
    lines: [{ price_id: priceId }],
    total: 1_000,
    ...more,
  };
}

async function buy(transactionId: string, priceId: string, more: object = {}) {
  clock.advance(60_000);
  return shop.send('purchase.completed', order(transactionId, priceId, more));
}

/** Buys a license, and returns its key and id. */
async function buyFirst(transactionId: string, priceId = 'year') {
  await buy(transactionId, priceId);
  const [license] = await shop.check(transactionId);
  assert.ok(license?.license_key);
  const { rows } = await pool.query<{ license_id: string }>(
    'select license_id from billing_licenses where transaction_id = $1',
    [transactionId],
  );
  const id = rows[0]?.license_id ?? '';
  return { key: license.license_key, id, endsAt: new Date(license.expires_at ?? 0) };
}

function plus(time: Date, days: number): string {
  return new Date(time.getTime() + days * DAY_MS).toISOString();
}

async function countLicenses(): Promise<number> {
  return service.count('licenses');
}

describe('a purchase with a license key in its custom data', () => {
  test('extends the license from its end, once, without a second key', async () => {
    const { key, endsAt } = await buyFirst('ord_first');
    const before = await countLicenses();
    const receipt = await buy('ord_again', 'year', { custom_data: { license_key: key } });
    assert.deepEqual([receipt.status, receipt.message], ['processed', null]);
    assert.equal(await countLicenses(), before);
    for (const [id, shownKey] of [
      ['ord_first', key],
      ['ord_again', null],
    ] as const) {
      assert.deepEqual(
        (await shop.check(id)).map((each) => [each.license_key, each.expires_at]),
        [[shownKey, plus(endsAt, 365)]],
      );
    }
    const filter = { eventId: null, status: null, provider: null, since: null };
    await replayEvents(context, { filter, actor: 'test', reason: 'again' }, () => {});
    assert.equal((await shop.check('ord_again'))[0]?.expires_at, plus(endsAt, 365));
    await shop.send('payment.refunded', {
      refund_id: 'ref_again',
      transaction_id: 'ord_again',
      full: true,
    });
    assert.equal((await shop.check('ord_first'))[0]?.expires_at, endsAt.toISOString());
    assert.equal((await shop.check('ord_first'))[0]?.status, 'active');
  });

  test('stores the key neither with the event nor with its facts, nor logs it', async () => {
    const { key } = await buyFirst('ord_secret');
    await buy('ord_sealed', 'year', { custom_data: { license_key: key, campaign: 'spring' } });
    const { rows } = await pool.query<{ texts: string }>(
      `select (select string_agg(convert_from(raw, 'UTF8'), ' ') from billing_events where raw is not null)
           || (select string_agg(fact::text, ' ') from billing_payments) as texts`,
    );
    assert.ok(rows[0]?.texts.includes('spring'));
    assert.equal(rows[0]?.texts.includes(key), false);
    assert.ok(!service.log.some((line) => line.includes(key)));
  });

  test('of another product upgrades the license', async () => {
    const { id, endsAt } = await buyFirst('ord_small');
    await buy('ord_large', 'pro', { custom_data: { license_id: id } });
    const { rows } = await pool.query(
      'select product_id, max_activations, expires_at, tier from licenses where id = $1',
      [id],
    );
    const expected = new Date(plus(endsAt, 0)).getTime() + 60_000;
    assert.deepEqual(rows, [
      { product_id: 'pro', max_activations: 5, expires_at: new Date(expected), tier: 'pro' },
    ]);
    await shop.send('payment.refunded', {
      refund_id: 'ref_large',
      transaction_id: 'ord_large',
      full: true,
    });
    const [license] = await shop.check('ord_small');
    assert.deepEqual([license?.product_type, license?.expires_at], ['year', endsAt.toISOString()]);
  });

  test('keeps its term when the catalogue is applied to what was sold', async () => {
    const { key, endsAt } = await buyFirst('ord_kept');
    await buy('ord_kept_2', 'year', { custom_data: { license_key: key } });
    const by = { actor: 'test', reason: 'as it is', dryRun: false };
    await applyCatalogToSold(context, by, () => {});
    assert.equal((await shop.check('ord_kept'))[0]?.expires_at, plus(endsAt, 365));
  });

  test('extends an issued license, and a refund removes only that', async () => {
    const expiresAt = new Date(clock.now().getTime() + 10 * DAY_MS);
    const { license } = await service.issue({
      productId: 'year',
      note: 'issued',
      expiresAt,
      customerEmail: 'ann@example.com',
    });
    await buy('ord_issued', 'year', { custom_data: { license_id: license.id } });
    assert.equal((await shop.check('ord_issued'))[0]?.expires_at, plus(expiresAt, 365));
    assert.equal((await shop.check('ord_issued'))[0]?.license_key, null);
    await shop.send('payment.refunded', {
      refund_id: 'ref_issued',
      transaction_id: 'ord_issued',
      full: true,
    });
    assert.equal((await shop.check('ord_issued'))[0]?.expires_at, expiresAt.toISOString());
  });

  test('ends the license that was created before the name was known', async () => {
    const { key, id } = await buyFirst('ord_named');
    await buy('ord_unnamed', 'year');
    assert.notEqual((await shop.check('ord_unnamed'))[0]?.license_key, key);
    await buy('ord_unnamed', 'year', { custom_data: { license_key: key } });
    const { rows } = await pool.query(
      `select license_id, renews from billing_licenses where transaction_id = 'ord_unnamed'`,
    );
    assert.deepEqual(rows, [{ license_id: id, renews: true }]);
    const second = await pool.query<{ open: number }>(
      `select count(*)::integer as open from licenses l
       where canceled_at is null and not exists (select from billing_licenses b where b.license_id = l.id)
         and note is distinct from 'issued'`,
    );
    assert.equal(second.rows[0]?.open, 0);
  });
});

describe('a purchase that cannot renew the license', () => {
  test('with an unknown key creates nothing, and needs attention', async () => {
    const before = await countLicenses();
    const named = { custom_data: { license_key: 'LK-AAAAA-BBBBB-CCCCC-DDDDD-EEEEE' } };
    const receipt = await buy('ord_unknown', 'year', named);
    assert.match(receipt.message ?? '', /Needs attention: it renews a license that does not exist/);
    const forged = { custom_data: { license_key: 'sealed:AAAA' } };
    assert.match((await buy('ord_forged', 'year', forged)).message ?? '', /does not exist/);
    assert.equal(await countLicenses(), before);
  });

  test('of another customer is applied once the license has the address of the payment', async () => {
    const { id, endsAt } = await buyFirst('ord_of_ann');
    const before = await countLicenses();
    const receipt = await buy('ord_of_bob', 'year', {
      customer: { id: 'c_bob', email: 'bob@example.com' },
      custom_data: { license_id: id },
    });
    assert.match(receipt.message ?? '', /another customer/);
    await pool.query(
      `update licenses set customer_email = 'bob@example.com', owner_changed_at = now() where id = $1`,
      [id],
    );
    const filter = { eventId: null, status: null, provider: null, since: null };
    const selection = { ...filter, unmatchedOnly: true };
    const outcomes: (string | null)[] = [];
    await replayEvents(
      context,
      { filter: selection, actor: 'test', reason: 'same person' },
      ({ message }) => outcomes.push(message),
    );
    assert.ok(outcomes.includes(null));
    assert.equal((await shop.check('ord_of_bob'))[0]?.expires_at, plus(endsAt, 365));
    assert.equal(await countLicenses(), before);
  });

  test('that is revoked needs attention', async () => {
    const { id } = await buyFirst('ord_revoked');
    await pool.query('update licenses set revoked_at = now() where id = $1', [id]);
    const receipt = await buy('ord_late', 'year', { custom_data: { license_id: id } });
    assert.match(receipt.message ?? '', /is revoked/);
  });
});

test('a new subscription takes over the key of a canceled one, and its mail names it again', async () => {
  const cycle = { interval: 'month' };
  const lines = [{ price_id: 'month', cycle }];
  const period = (from: Date) => ({ starts_at: from.toISOString(), ends_at: plus(from, 30) });
  await buy('ord_s1', 'month', { lines, subscription_id: 's1', period: period(clock.now()) });
  const [first] = await shop.check('ord_s1');
  await sendKeyEmail(context, { provider: 'standard', transactionId: 'ord_s1' });
  clock.advance(3_600_000);
  await shop.send('subscription.canceled', { subscription_id: 's1', status: 'canceled' });
  assert.equal((await shop.check('ord_s1'))[0]?.status, 'canceled');
  const begun = new Date(clock.now().getTime() + 60_000);
  const named = { custom_data: { license_key: first?.license_key } };
  await buy('ord_s2', 'month', { lines, subscription_id: 's2', period: period(begun), ...named });
  assert.deepEqual(
    (await shop.check('ord_s2')).map((each) => [each.license_key, each.status, each.expires_at]),
    [[null, 'active', plus(begun, 30)]],
  );
  assert.equal((await shop.check('ord_s1'))[0]?.license_key, first?.license_key);
  const sent = relay.mails.length;
  await sendKeyEmail(context, { provider: 'standard', transactionId: 'ord_s2' });
  assert.equal(relay.mails.length, sent + 1);
});
