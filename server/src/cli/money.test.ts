/** Repairs, revenue and the payments of a customer by the command line. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { readBody } from '../../test/acceptance/bodies.ts';
import { runLatchkey, type CommandRun } from '../../test/command-line.ts';
import { startTestService, TEST_MASTER_SECRET } from '../../test/harness.ts';
import { openStandardShop } from '../../test/payment-providers/standard-shop.ts';
import { DAY_MS } from '../../test/test-clock.ts';

const service = await startTestService();
const shop = openStandardShop(service);
let directory = '';
let sent = 0;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'latchkey-money-'));
  await writeFile(
    join(directory, 'catalog.yaml'),
    'key_prefix: LK\ntrial: { product: p }\nproducts:\n  - id: p\n    name: P\n    tier: p\n    max_activations: 1\n    prices: { standard: [p] }\n',
  );
});

after(() => rm(directory, { recursive: true, force: true }));

function run(...args: string[]): Promise<CommandRun> {
  const settings = {
    DATABASE_URL: service.database.url,
    LATCHKEY_SECRET: TEST_MASTER_SECRET,
    LATCHKEY_CATALOG: join(directory, 'catalog.yaml'),
  };
  return runLatchkey(args, { directory, settings });
}

async function runJson(...args: string[]) {
  const { code, stdout, stderr } = await run(...args, '--json');
  assert.equal(code, 0, stderr);
  return readBody(JSON.parse(stdout));
}

/** In the past of the commands, whose clock is that of the computer. */
const SOLD_AT = new Date('2024-05-31T23:59:59Z');

/** Sends an event, and returns its id. */
async function send(
  type: string,
  data: Readonly<Record<string, unknown>>,
  at = SOLD_AT,
): Promise<string> {
  await shop.send(type, data, at);
  sent += 1;
  return `msg_${sent}`;
}

function sell(id: string, priceIds: readonly string[]): Promise<string> {
  return send('purchase.completed', {
    transaction_id: id,
    customer: { id: `c-${id}`, email: `${id}@example.com` },
    lines: priceIds.map((priceId) => ({ price_id: priceId, total: 5_900 })),
    total: 5_900,
    tax: 942,
    currency: 'EUR',
    country: 'DE',
  });
}

/** Runs a repair, and returns the state and the addresses of the licenses. */
async function repair(...args: string[]) {
  const { state, licenses } = await runJson('webhook', ...args, '--reason', 'repaired');
  assert.ok(Array.isArray(licenses));
  return {
    state,
    ids: licenses.map((each) => readBody(each)['license_id']),
    addresses: licenses.map((each) => readBody(each)['customer_email']),
  };
}

test('repairs a price, a payment without a line, a subscription and an address', async () => {
  const priced = await repair('set-product', await sell('priced', ['retired']), 'p');
  assert.deepEqual([priced.state, priced.addresses], ['applied', ['priced@example.com']]);
  const issued = await repair('issue', await sell('nothing', []), 'p', '--quantity', '2');
  assert.deepEqual([issued.state, issued.addresses], ['applied', ['nothing@example.com']]);
  const moved = await repair('set-address', await sell('typo', ['retired']), 'right@example.com');
  assert.deepEqual(moved.addresses, []);

  const { license_id: licenseId } = await runJson(
    'license',
    'issue',
    '--product',
    'p',
    '--email',
    'link@example.com',
  );
  const renewal = await send('purchase.renewed', {
    transaction_id: 'renewed',
    subscription_id: 'sub-linked',
    customer: { id: 'c-link', email: 'link@example.com' },
    lines: [{ price_id: 'p', cycle: { interval: 'month' } }],
    period: {
      starts_at: SOLD_AT.toISOString(),
      ends_at: new Date(SOLD_AT.getTime() + 30 * DAY_MS).toISOString(),
    },
    total: 1_000,
  });
  const linked = await repair('link', renewal, String(licenseId));
  assert.deepEqual(linked.ids, [licenseId]);
});

test('shows revenue as a table, JSON and CSV, and computes it anew', async () => {
  const query = ['revenue', 'show', '--by', 'country', '--from', '2024-05', '--to', '2024-05'];
  const { rows } = await runJson(...query);
  assert.ok(Array.isArray(rows));
  const german = rows.map(readBody).find((row) => row['country'] === 'DE');
  assert.deepEqual(
    [german?.['payments'], german?.['gross'], german?.['tax'], german?.['net']],
    [3, 17_700, 2_826, 14_874],
  );
  const csv = await run(...query, '--csv');
  assert.match(csv.stdout, /^month,product,country,provider,currency,payments,gross,tax,/u);
  assert.match(csv.stdout, /^,,DE,,EUR,3,177,28\.26,/mu);
  const table = await run(...query);
  assert.match(table.stdout, /^DE +EUR +3 +177\.00 +28\.26 /mu);

  const rebuilt = await run('revenue', 'rebuild', '--reason', 'test');
  assert.equal(rebuilt.code, 0, rebuilt.stderr);
  assert.deepEqual((await runJson(...query))['rows'], rows);
  const wrong = await run('revenue', 'show', '--from', 'March');
  assert.equal(wrong.code, 2);
});

test('lists the payments of a customer as a table, JSON and CSV, and records it', async () => {
  await send('payment.refunded', { refund_id: 'r-1', transaction_id: 'priced', total: 900 });
  const command = ['customer', 'payments', 'PRICED@example.com'];
  const { payments, totals } = await runJson(...command);
  assert.ok(Array.isArray(payments) && Array.isArray(totals));
  assert.deepEqual(
    new Set(payments.map((each) => readBody(each)['kind'])),
    new Set(['purchase', 'refund']),
  );
  const [total] = totals.map(readBody);
  assert.deepEqual([total?.['gross'], total?.['refunds'], total?.['net']], [5_900, 900, 4_202]);
  const table = await run(...command);
  assert.match(table.stdout, /purchase +P +59\.00 EUR +DE +priced$/mu);
  assert.match(table.stdout, /^EUR +1 +59\.00 +9\.42 +9\.00 +0\.00 +42\.02$/mu);
  const csv = await run(...command, '--csv');
  assert.match(csv.stdout, /,refund,standard,priced,,P,9\.00,,EUR,DE,approved,/u);
  const { entries } = await runJson('audit', 'list');
  assert.ok(Array.isArray(entries));
  const actions = entries.map((entry) => readBody(entry)['action']);
  assert.equal(actions.filter((action) => action === 'customer.payments').length, 3);
});
