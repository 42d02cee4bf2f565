import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';

import { startTestService, TEST_WEBHOOK_SECRETS } from '../../../test/harness.ts';
import {
  paddleCustomer,
  paddleDelivery,
  paddleId,
  signPaddle,
} from '../../../test/payment-providers/paddle-events.ts';
import { replayEvents } from './stored-events.ts';

const PATH = '/api/v1/webhooks/billing';
const service = await startTestService();
const [secret = ''] = TEST_WEBHOOK_SECRETS.paddle;

/** Sends any body with a valid signature; returns the status. */
async function send(body: Buffer<ArrayBuffer>, type = 'application/json'): Promise<number> {
  const signature = signPaddle(body, secret, service.clock.now());
  const headers = { 'content-type': type, 'billing-signature': signature };
  return (await service.send('POST', PATH, { body, headers })).status;
}

const idOf = (body: Buffer) => `unreadable:${createHash('sha256').update(body).digest('hex')}`;

async function findKept(body: Buffer): Promise<unknown[]> {
  const { rows } = await service.pool.query(
    'select type, status, message, raw, attempts from billing_events where event_id = $1',
    [idOf(body)],
  );
  return rows;
}

const FAILED = { type: 'unreadable', status: 'failed', attempts: 1 };

for (const [what, text, type, status, why] of [
  [
    'of another type',
    'a=b',
    'application/x-www-form-urlencoded',
    415,
    'The body must be JSON (`application/json`).',
  ],
  ['that is empty', '', 'application/json', 422, 'Field required'],
  [
    'that is no JSON',
    '{"a": }',
    'application/json',
    422,
    'JSON decode error: Unexpected token \'}\', "{"a": }" is not valid JSON',
  ],
  ['that is no object', '[]', 'application/json', 422, 'Input should be a valid dictionary'],
  [
    'without the id of an event',
    '{}',
    'application/json',
    422,
    'Value error, Missing or invalid: event_id, event_type, occurred_at.',
  ],
] as const) {
  test(`stores a signed body ${what} once as failed and returns the error`, async () => {
    const body = Buffer.from(text);
    assert.deepEqual([await send(body, type), await send(body, type)], [status, status]);
    const message = `It cannot be read: ${why}`;
    assert.deepEqual(await findKept(body), [{ ...FAILED, message, raw: body }]);
  });
}

test('stores no license key of a body without the id of an event', async () => {
  const key = 'LK-AAAAA-BBBBB-CCCCC-DDDDD-EEEEE';
  const body = Buffer.from(JSON.stringify({ data: { custom_data: { license_key: key } } }));
  assert.deepEqual([await send(body), await send(body)], [422, 422]);
  const { rows } = await service.pool.query<{ raw: string }>(
    `select convert_from(raw, 'UTF8') as raw from billing_events where event_id = $1`,
    [idOf(body)],
  );
  assert.match(
    rows[0]?.raw ?? '',
    /^\{"data":\{"custom_data":\{"license_key":"sealed:[\w-]+"\}\}\}$/u,
  );
});

test('stores no license key of a body that is not JSON, and only its beginning', async () => {
  const key = 'LK-AAAAA-BBBBB-CCCCC-DDDDD-EEEEE';
  for (const [text, hidden] of [
    [`custom_data%5Blicense_key%5D=OLD-1234&a=b`, 'OLD-1234'],
    [`{"custom_data": {"license_key": "foreign-77"}`, 'foreign-77'],
    [`a=${key}&b=${'x'.repeat(100_000)}`, key],
  ] as const) {
    const body = Buffer.from(text);
    assert.ok((await send(body)) >= 400);
    const { rows } = await service.pool.query<{ raw: string }>(
      `select convert_from(raw, 'UTF8') as raw from billing_events where event_id = $1`,
      [idOf(body)],
    );
    const { raw = hidden } = rows[0] ?? {};
    assert.ok(!raw.includes(hidden) && raw.includes('sealed:') && raw.length <= 65_536, raw);
  }
});

test('stores bytes that are not text unchanged, and fails to replay them', async () => {
  const body = Buffer.from([0x7b, 0x00, 0xff, 0xc3, 0x28, 0x7d]);
  assert.equal(await send(body), 422);
  const message = 'It cannot be read: JSON decode error: The body is not UTF-8';
  assert.deepEqual(await findKept(body), [{ ...FAILED, message, raw: body }]);
  const outcomes: unknown[] = [];
  const filter = { eventId: idOf(body), status: null, provider: null, since: null };
  await replayEvents(service.context, { filter, actor: 'ann', reason: 'again' }, (outcome) =>
    outcomes.push([outcome.status, outcome.message]),
  );
  assert.deepEqual(outcomes, [['failed', message]]);
  assert.deepEqual(await findKept(body), [{ ...FAILED, message, raw: body, attempts: 2 }]);
});

test('stores no body without a valid signature', async () => {
  const before = await service.count('billing_events');
  const { status } = await service.post(PATH, 'a=b', { 'billing-signature': 'ts=1;h1=00' });
  assert.equal(status, 401);
  assert.equal(await service.count('billing_events'), before);
});

test('stores and applies a body that is not a valid text in PostgreSQL', async () => {
  const event = paddleCustomer('created', { customerId: paddleId('ctm'), name: 'A\0B' });
  const { body, headers } = paddleDelivery(event, { secret, at: service.clock.now() });
  assert.equal((await service.post(PATH, body, headers)).status, 200);
  const { rows } = await service.pool.query(
    'select status, raw from billing_events where event_id = $1',
    [event.event_id],
  );
  assert.deepEqual(rows, [{ status: 'processed', raw: Buffer.from(body) }]);
});
