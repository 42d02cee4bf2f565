/** Revenue over HTTP: sums by hand for every division, rates, CSV, roles, and test modes. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';

import { rollUpDueRevenue } from '#server/features/billing/roll-up-revenue.ts';

import { startTestService, TEST_WEBHOOK_SECRETS } from '../harness.ts';
import { openBrowser } from '../operator-steps.ts';
import { openStandardShop } from '../payment-providers/standard-shop.ts';
import { standardDelivery, standardEvent } from '../payment-providers/standard-webhooks-events.ts';
import { CATALOG, testCatalog } from '../test-catalog.ts';
import { DAY_MS } from '../test-clock.ts';
import { readBody } from './bodies.ts';

const TEST_SECRET = `whsec_${Buffer.from('the secret of a test shop, 1').toString('base64')}`;
const [STANDARD_SECRET = ''] = TEST_WEBHOOK_SECRETS.standard;

const service = await startTestService({
  catalog: testCatalog(
    CATALOG.replace('stripe: [price_personal]', 'standard: [personal]').replace(
      'stripe: [price_sellers]',
      'standard: [sellers]',
    ),
  ),
  webhooks: { standard: [STANDARD_SECRET, `test:${TEST_SECRET}`] },
});
const { clock, context } = service;
const shop = openStandardShop(service);
const viewer = await openBrowser(service, 'viewer');

const PATH = '/api/v1/admin/revenue';

interface Sold {
  readonly month: string;
  readonly product: string;
  readonly country: string;
  readonly currency: string;
  readonly total: number;
  readonly tax: number;
}

/** The first and the last day of months are in them. */
const SOLD: readonly (Sold & { readonly at: string })[] = [
  ['2026-12-31T23:59:59Z', 'personal', 'DE', 'EUR', 5_900, 942],
  ['2027-01-01T00:00:00Z', 'personal', 'DE', 'EUR', 5_900, 942],
  ['2027-01-15T12:00:00Z', 'sellers', 'DE', 'EUR', 9_900, 1_581],
  ['2027-01-31T23:59:59Z', 'sellers', 'FR', 'EUR', 9_900, 1_650],
  ['2027-02-01T00:00:00Z', 'personal', 'US', 'USD', 6_500, 0],
  ['2027-02-28T23:59:59Z', 'personal', 'US', 'USD', 6_500, 0],
  ['2027-02-28T23:59:59Z', 'sellers', 'JP', 'JPY', 9_000, 818],
].map(([at, product, country, currency, total, tax]) => ({
  at: String(at),
  month: String(at).slice(0, 7),
  product: String(product),
  country: String(country),
  currency: String(currency),
  total: Number(total),
  tax: Number(tax),
}));

before(async () => {
  for (const [index, each] of SOLD.entries()) {
    await shop.send(
      'purchase.completed',
      {
        transaction_id: `ord-${index}`,
        customer: { id: `c-${index}`, email: `c${index}@example.com` },
        lines: [{ price_id: each.product, total: each.total }],
        total: each.total,
        tax: each.tax,
        currency: each.currency,
        country: each.country,
      },
      new Date(each.at),
    );
  }
  const tested = standardDelivery(
    standardEvent('purchase.completed', {
      transaction_id: 'ord-test',
      customer: { id: 'c-test', email: 'test@example.com' },
      lines: [{ price_id: 'personal' }],
      total: 1_000_000,
      currency: 'EUR',
    }),
    { secret: TEST_SECRET, id: 'msg_test', at: clock.now() },
  );
  const answer = await service.post('/api/v1/webhooks/standard', tested.body, tested.headers);
  assert.equal(answer.status, 200, answer.text);
  await rollUpDueRevenue(context);
});

type Row = Readonly<Record<string, unknown>>;

async function report(query: string): Promise<Row[]> {
  const answer = await viewer.get(`${PATH}?${query}`);
  assert.equal(answer.status, 200, answer.text);
  const { rows, pending, backfill } = readBody(answer.body);
  assert.deepEqual([pending, backfill], [0, null]);
  assert.ok(Array.isArray(rows));
  return rows.map(readBody);
}

const DIMENSIONS = ['month', 'product', 'country', 'provider'] as const;

/** All divisions by at least one dimension. */
const DIVISIONS = Array.from({ length: 15 }, (_, index) =>
  DIMENSIONS.filter((_dimension, bit) => (((index + 1) >> bit) & 1) === 1),
);

/** Adds the payments of a range up by hand: payments, gross, tax, net. */
function addUp(by: readonly string[], from: string, to: string) {
  const sums = new Map<string, readonly [number, number, number, number]>();
  for (const each of SOLD.filter(({ month }) => month >= from && month <= to)) {
    const fields: Row = { ...each, provider: 'standard' };
    const name = [...by.map((dimension) => fields[dimension]), each.currency].join(' ');
    const [payments, gross, tax, net] = sums.get(name) ?? [0, 0, 0, 0];
    sums.set(name, [payments + 1, gross + each.total, tax + each.tax, net + each.total - each.tax]);
  }
  return Object.fromEntries([...sums].sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Recurring revenue in pounds: its amount, its subscriptions, and what was lost. */
async function reportRecurring() {
  const rows = await report('by=provider');
  const row = rows.find(({ currency }) => currency === 'GBP');
  return [row?.['mrr'], row?.['subscriptions'], row?.['mrr_lost']];
}

describe('revenue', () => {
  for (const by of DIVISIONS) {
    test(`by ${by.join(', ')} equals the sum of the payments, without test modes`, async () => {
      for (const [from, to] of [
        ['2026-12', '2027-02'],
        ['2027-01', '2027-01'],
      ] as const) {
        const rows = await report(`by=${by.join(',')}&from=${from}&to=${to}`);
        const found = rows.map((row) => {
          const name = [...by.map((each) => row[each]), row['currency']].join(' ');
          return [name, [row['payments'], row['gross'], row['tax'], row['net']]] as const;
        });
        assert.deepEqual(
          Object.fromEntries(found.sort(([a], [b]) => (a < b ? -1 : 1))),
          addUp(by, from, to),
        );
      }
    });
  }

  test('is added over currencies only with rates, and keeps those without one', async () => {
    const rows = await report('by=provider&from=2026-12&to=2027-02&currency=EUR&rates=USD:0.5');
    assert.deepEqual(
      rows.map((row) => [row['currency'], row['decimals'], row['gross']]),
      [
        ['EUR', 2, 31_600 + 6_500],
        ['JPY', 0, 9_000],
      ],
    );
  });

  test('is CSV with decimal numbers', async () => {
    const { text, status } = await viewer.get(`${PATH}/export?by=country&from=2027-01&to=2027-01`);
    assert.equal(status, 200, text);
    const [head, ...lines] = text.trimEnd().split('\r\n');
    assert.match(head ?? '', /^month,product,country,provider,currency,payments,gross,tax,/u);
    assert.deepEqual(
      lines.map((line) => line.split(',').slice(2, 8).join(',')),
      ['DE,,EUR,2,158,25.23', 'FR,,EUR,1,99,16.5'],
    );
  });

  test('needs a session, and a query that makes sense', async () => {
    assert.equal((await service.get(PATH)).status, 401);
    for (const query of ['by=day', 'from=2027-02&to=2027-01', 'from=2027-13', 'rates=USD:1']) {
      assert.equal((await viewer.get(`${PATH}?${query}`)).status, 422, query);
    }
  });

  test('that recurs runs until the day after the paid period, also within a month', async () => {
    const start = clock.now();
    const ends = new Date(start.getTime() + 5 * DAY_MS);
    await shop.send('purchase.completed', {
      transaction_id: 'ord-sub',
      subscription_id: 'sub-1',
      customer: { id: 'c-sub', email: 'sub@example.com' },
      lines: [{ price_id: 'personal', total: 1_190, cycle: { interval: 'month' } }],
      period: {
        starts_at: new Date(ends.getTime() - 30 * DAY_MS).toISOString(),
        ends_at: ends.toISOString(),
      },
      total: 1_190,
      tax: 190,
      currency: 'GBP',
    });
    await rollUpDueRevenue(context);
    assert.deepEqual(await reportRecurring(), [1_000, 1, 0]);
    clock.advance(4 * DAY_MS);
    assert.deepEqual(await reportRecurring(), [1_000, 1, 0]);
    clock.advance(2 * DAY_MS);
    assert.deepEqual(await reportRecurring(), [0, 0, -1_000]);
  });
});

/** More sums than a page has rows, in months of different sizes: the first ones are small, and some groups end. */
const FILL = `
  insert into billing_revenue_months (month, provider, product_id, country, currency, payments, gross, tax, fees, refunds, refunded_tax, disputes,
    disputed_tax, mrr_new, mrr_expansion, mrr_contraction, mrr_lost, mrr_reactivated, subscriptions_new, subscriptions_lost, subscriptions_reactivated)
  select month, 'standard', 'product-' || product, country, 'SEK', 1, 1000 + product, 0, 0, 0, 0, 0, 0,
         case when (product + number) % 3 = 0 then 10 else 0 end, 0, 0, case when (product + number) % 5 = 0 then -10 else 0 end, 0,
         ((product + number) % 3 = 0)::int, ((product + number) % 5 = 0)::int, 0
  from generate_series(1, 8) as number
  cross join lateral (select '2025-12-01'::date + number * interval '1 month' as month) as dated
  cross join generate_series(1, number * 60) as product
  cross join unnest(array['SE', 'NO']) as country`;

/** What counting adds to the summaries. */
const SUMMARIZE = `
  insert into billing_revenue_summaries
  select divided_by, month, provider, case divided_by when 'product' then product_id else '' end,
         case divided_by when 'country' then country else '' end, currency, sum(payments), sum(gross), 0, 0, 0, 0, 0, 0,
         sum(mrr_new), 0, 0, sum(mrr_lost), 0, sum(subscriptions_new), sum(subscriptions_lost), 0
  from billing_revenue_months cross join unnest(array['', 'product', 'country']) as divided_by
  where currency = 'SEK' group by 1, 2, 3, 4, 5, 6`;

const RANGE = 'from=2025-01&to=2026-10';

async function readPages(query: string): Promise<{ rows: Row[]; pages: number }> {
  const rows: Row[] = [];
  let cursor: unknown = '';
  for (let pages = 1; ; pages += 1) {
    const answer = await viewer.get(
      `${PATH}?${query}${cursor === '' ? '' : `&cursor=${String(cursor)}`}`,
    );
    assert.equal(answer.status, 200, answer.text);
    const body = readBody(answer.body);
    assert.ok(Array.isArray(body['rows']));
    assert.ok(body['rows'].length <= 1_000);
    rows.push(...body['rows'].map(readBody));
    cursor = body['next_cursor'];
    if (cursor === null) return { rows, pages };
  }
}

/** Adds rows up by their months: what no division changes. */
function addByMonth(rows: readonly Row[]) {
  const sums = new Map<string, readonly number[]>();
  for (const row of rows.filter(({ currency }) => currency === 'SEK')) {
    const own = ['payments', 'gross', 'mrr', 'mrr_new', 'mrr_lost', 'subscriptions'].map((name) =>
      Number(row[name]),
    );
    const month = String(row['month']);
    const sum = sums.get(month);
    sums.set(
      month,
      own.map((value, index) => value + (sum?.[index] ?? 0)),
    );
  }
  return Object.fromEntries(sums);
}

describe('revenue of many groups', () => {
  before(async () => {
    await service.pool.query(FILL);
    await service.pool.query(SUMMARIZE);
  });

  test('is on pages that have each row once, in order, with the sums of the whole', async () => {
    const whole = await readPages(`by=month&${RANGE}`);
    assert.equal(whole.pages, 1);
    for (const by of ['month,product,country', 'month,product,country,provider', 'month,product']) {
      const { rows, pages } = await readPages(`by=${by}&${RANGE}`);
      assert.ok(pages > 1, by);
      const names = rows.map((row) =>
        [row['month'], row['product'], row['country'], row['provider'], row['currency']].join('|'),
      );
      assert.deepEqual(names, [...new Set(names)].sort());
      assert.deepEqual(addByMonth(rows), addByMonth(whole.rows));
    }
  });

  test('is exported as a whole', async () => {
    const { rows } = await readPages(`by=month,product,country&${RANGE}`);
    const { text } = await viewer.get(`${PATH}/export?by=month,product,country&${RANGE}`);
    const [, ...lines] = text.trimEnd().split('\r\n');
    assert.deepEqual(
      lines.map((line) => line.split(',').slice(0, 3).join(',')),
      rows.map((row) => [row['month'], row['product'], row['country']].join(',')),
    );
  });

  test('refuses a cursor of another report, or of none', async () => {
    const query = `by=month,product,country&${RANGE}`;
    const cursor = String(readBody((await viewer.get(`${PATH}?${query}`)).body)['next_cursor']);
    assert.equal((await viewer.get(`${PATH}?${query}&cursor=${cursor}`)).status, 200);
    const position: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    const forged = Buffer.from(JSON.stringify({ ...readBody(position), value: '2026-99' }));
    for (const wrong of [
      `by=month,product&${RANGE}&cursor=${cursor}`,
      `${query}&cursor=${forged.toString('base64url')}`,
      `${query}&cursor=abc`,
    ]) {
      assert.equal((await viewer.get(`${PATH}?${wrong}`)).status, 422, wrong);
    }
  });
});
