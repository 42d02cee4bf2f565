import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { readBody } from '../../test/acceptance/bodies.ts';
import { runLatchkey, type CommandRun } from '../../test/command-line.ts';
import { startTestService, TEST_MASTER_SECRET } from '../../test/harness.ts';
import {
  paddleId,
  paddleTransactionCompleted,
} from '../../test/payment-providers/paddle-events.ts';
import { deliverPaddle } from '../../test/payment-providers/paddle-steps.ts';
import { HOUR_MS } from '../../test/test-clock.ts';

const service = await startTestService();
const price = paddleId('pri');
let directory = '';

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'latchkey-webhooks-'));
});

after(() => rm(directory, { recursive: true, force: true }));

function run(...args: string[]): Promise<CommandRun> {
  const settings = {
    DATABASE_URL: service.database.url,
    LATCHKEY_SECRET: TEST_MASTER_SECRET,
    LATCHKEY_CATALOG: join(directory, 'catalog.yaml'),
  };
  return runLatchkey(['webhook', ...args], { directory, settings });
}

function writeCatalog(prices: string): Promise<void> {
  const text = `key_prefix: LK\ntrial: { product: p }\nproducts:\n  - id: p\n    name: P\n    tier: p\n    max_activations: 1\n    prices: { paddle: [${prices}] }\n`;
  return writeFile(join(directory, 'catalog.yaml'), text);
}

test('lists an event without a product, and replays it once the catalogue has its price', async () => {
  await writeCatalog('');
  const event = paddleTransactionCompleted({ lines: [{ priceId: price }] });
  await deliverPaddle(service, event);

  const listed = await run('list', '--status', 'ignored');
  assert.equal(listed.code, 0, listed.stderr);
  assert.match(
    listed.stdout,
    new RegExp(`^${event.event_id} +paddle +transaction.completed +ignored +1 +purchase `, 'mu'),
  );

  const replay = [
    'replay',
    '--status',
    'ignored',
    '--provider',
    'paddle',
    '--reason',
    'price added',
  ];
  const unchanged = await run(...replay);
  assert.match(unchanged.stdout, /ignored/);
  assert.equal(await service.count('licenses'), 0);

  await writeCatalog(price);
  const done = await run(...replay, '--json');
  assert.equal(done.code, 0, done.stderr);
  assert.deepEqual(JSON.parse(done.stdout), [
    {
      event_id: event.event_id,
      provider: 'paddle',
      type: 'transaction.completed',
      status: 'processed',
      message: null,
    },
  ]);
  assert.equal(await service.count('licenses'), 1);

  const again = await run('replay', event.event_id, '--reason', 'once more');
  assert.match(again.stdout, /processed/);
  assert.equal(await service.count('licenses'), 1);
  const { rows } = await service.pool.query(
    `select action, subject_id, reason, details from audit_log order by occurred_at, id`,
  );
  assert.deepEqual(rows.slice(1), [
    {
      action: 'webhook.replay',
      subject_id: 'webhooks',
      reason: 'price added',
      details: { replayed: 1, status: 'ignored', provider: 'paddle' },
    },
    {
      action: 'webhook.replay',
      subject_id: event.event_id,
      reason: 'once more',
      details: { replayed: 1, status: null, provider: null },
    },
  ]);
});

test('rejects a replay without a selection (exit code 2) or of an unknown event (exit code 1)', async () => {
  const unclear = await run('replay', '--reason', 'r');
  assert.deepEqual([unclear.code, unclear.stdout], [2, '']);
  const unknown = await run('replay', 'evt_nobody', '--reason', 'r');
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /^latchkey: /u);
});

test('lists the latest events, oldest first, and reports that there are more', async () => {
  const sent: string[] = [];
  for (let count = 0; count < 3; count += 1) {
    service.clock.advance(HOUR_MS);
    const event = paddleTransactionCompleted({ lines: [{ priceId: price }] });
    await deliverPaddle(service, event);
    sent.push(event.event_id);
  }
  const listed = await run('list', '--limit', '2', '--json');
  assert.equal(listed.code, 0, listed.stderr);
  const events: { event_id: string }[] = JSON.parse(listed.stdout);
  assert.deepEqual(
    events.map(({ event_id: id }) => id),
    sent.slice(1),
  );
  assert.match(listed.stderr, /--limit/u);
  assert.equal((await run('list')).stderr, '');
});

test('lists and replays only payments that need attention', async () => {
  const own = paddleId('pri');
  await writeCatalog(price);
  const open = paddleTransactionCompleted({
    transactionId: paddleId('txn'),
    lines: [{ priceId: own }],
  });
  await deliverPaddle(service, open);
  const listIds = async () => {
    const listed = await run('list', '--attention', '--json');
    assert.equal(listed.code, 0, listed.stderr);
    const events: unknown = JSON.parse(listed.stdout);
    assert.ok(Array.isArray(events));
    return events.map((event: unknown) => readBody(event)['event_id']);
  };
  assert.deepEqual(await listIds(), [open.event_id]);

  await writeCatalog(own);
  const done = await run('replay', '--attention', '--reason', 'price added', '--json');
  assert.equal(done.code, 0, done.stderr);
  assert.deepEqual(JSON.parse(done.stdout), [
    {
      event_id: open.event_id,
      provider: 'paddle',
      type: 'transaction.completed',
      status: 'processed',
      message: null,
    },
  ]);
  assert.deepEqual(await listIds(), []);
});

test('lists and shows what happened, with the customer, the product and the amount', async () => {
  const own = paddleId('pri');
  await writeCatalog(own);
  const event = paddleTransactionCompleted({
    transactionId: paddleId('txn'),
    lines: [{ priceId: own, unitAmount: 4_900 }],
  });
  await deliverPaddle(service, event);
  const listed = await run('list', '--json');
  const events: unknown = JSON.parse(listed.stdout);
  assert.ok(Array.isArray(events));
  const found = events.map(readBody).find((each) => each['event_id'] === event.event_id);
  const products = [{ product_id: 'p', name: 'P', price_id: own }];
  const expected = { kind: 'purchase', products, amount_text: '49.00', currency: 'USD' };
  assert.deepEqual({ ...found, ...expected }, found);

  const shown = await run('show', event.event_id);
  assert.equal(shown.code, 0, shown.stderr);
  assert.match(shown.stdout, /^kind +purchase$/mu);
  assert.match(shown.stdout, /^products +P$/mu);
  assert.match(shown.stdout, /^amount +49\.00 USD$/mu);
  assert.match(shown.stdout, /^reported +web$/mu);
  const json = readBody(JSON.parse((await run('show', event.event_id, '--json')).stdout));
  assert.deepEqual({ ...json, ...expected }, json);
  const unknown = await run('show', 'evt_nobody');
  assert.deepEqual([unknown.code, unknown.stdout], [1, '']);
});
