import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, test } from 'node:test';

import { eventually } from '../../../test/eventually.ts';
import { startTestService } from '../../../test/harness.ts';
import { DAY_MS } from '../../../test/test-clock.ts';
import { startWebhookReceiver } from '../../../test/webhook-receiver.ts';
import { deliverDue } from '../../../test/webhook-steps.ts';
import { addEndpoint } from './add-endpoint.ts';
import { startOutgoingWebhooks } from './run-outgoing-webhooks.ts';

const service = await startTestService();
const { ctx, pool } = service;
const [dead, sound] = await Promise.all([startWebhookReceiver(), startWebhookReceiver()]);
after(() => Promise.all([dead[Symbol.asyncDispose](), sound[Symbol.asyncDispose]()]));
const unanswered: ServerResponse[] = [];
dead.answer((response) => void unanswered.push(response));

for (const { url } of [dead, sound]) {
  const order = { url, eventTypes: [], description: null };
  await addEndpoint(ctx, order, { actor: 'test', reason: null });
}

function linesOf(text: string): number {
  return service.log.filter((line) => line.includes(text)).length;
}

test('an endpoint that does not answer holds no other back, and fills only its own places', async () => {
  for (let count = 0; count < 40; count++) await service.issue();
  const running = startOutgoingWebhooks({ ...ctx, sendTimeoutMs: 60_000 }, { pollIntervalMs: 20 });
  await sound.waitFor(40);
  await eventually(() => unanswered.length === 16);
  assert.ok(
    unanswered.every(({ destroyed }) => !destroyed),
    'none of the dead one has ended',
  );
  assert.equal(new Set(sound.received.map(({ headers }) => headers['webhook-id'])).size, 40);
  const stopped = running.stop();
  for (const response of unanswered) response.destroy();
  await stopped;
  assert.equal(dead.received.length, 16);
  const { rows } = await pool.query(
    `select state, count(*) as deliveries from webhook_deliveries group by state order by state`,
  );
  assert.deepEqual(rows, [
    { state: 'delivered', deliveries: 40 },
    { state: 'pending', deliveries: 40 },
  ]);
});

test('what comes by time is told, and the log is cleared, by the loop itself', async () => {
  await pool.query('truncate webhook_messages, webhook_deliveries');
  dead.answer(500);
  const { license } = await service.issue({ productId: 'yearly' });
  await deliverDue(ctx, 10);
  const begun = startOutgoingWebhooks(ctx, { pollIntervalMs: 20 });
  await eventually(async () => (await service.count('webhook_expiry_cursor')) === 1);
  await begun.stop();
  service.clock.advance(400 * DAY_MS);
  const running = startOutgoingWebhooks(ctx, { pollIntervalMs: 20 });
  await eventually(async () => {
    const { rows } = await pool.query('select type, license_id from webhook_messages');
    return rows.length === 1 && rows[0].type === 'license.expired';
  });
  await running.stop();
  const told = sound.received.map(({ body }) => JSON.parse(body)).at(-1);
  assert.deepEqual([told.type, told.data.license_id], ['license.expired', license.id]);
});

test('a database that is away is said once, and so is its return', async () => {
  const broken = { ...ctx, pool: Object.create(pool, {}) };
  let isAway = true;
  let tries = 0;
  broken.pool.connect = () => {
    tries += 1;
    return isAway ? Promise.reject(new Error('the database is away')) : pool.connect();
  };
  const running = startOutgoingWebhooks(broken, { pollIntervalMs: 10 });
  await eventually(() => linesOf('webhooks cannot be delivered') === 1);
  const triesWhenSaid = tries;
  await eventually(() => tries >= triesWhenSaid + 2);
  isAway = false;
  await eventually(() => linesOf('webhooks can be delivered again') === 1);
  await running.stop();
  assert.equal(linesOf('webhooks cannot be delivered'), 1);
});
