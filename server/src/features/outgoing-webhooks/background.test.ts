import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, test } from 'node:test';

import { QueueRunner } from '#server/jobs/work-queue.ts';

import { eventually } from '../../../test/eventually.ts';
import { startTestService } from '../../../test/harness.ts';
import { DAY_MS } from '../../../test/test-clock.ts';
import { startWebhookReceiver } from '../../../test/webhook-receiver.ts';
import { deliverDue } from '../../../test/webhook-steps.ts';
import { addEndpoint } from './add-endpoint.ts';
import { createDeliveryQueue, createWebhookTasks } from './background.ts';
import type { DeliveryDependencies } from './deliver.ts';

const service = await startTestService();
const { context, pool } = service;
const [dead, sound] = await Promise.all([startWebhookReceiver(), startWebhookReceiver()]);
after(() => Promise.all([dead[Symbol.asyncDispose](), sound[Symbol.asyncDispose]()]));
const unanswered: ServerResponse[] = [];
dead.answer((response) => void unanswered.push(response));

for (const { url } of [dead, sound]) {
  const order = { url, eventTypes: [], description: null };
  await addEndpoint(context, order, { actor: 'test', reason: null });
}

function startDeliveries(deps: DeliveryDependencies) {
  const queue = { ...createDeliveryQueue(deps), pollIntervalMs: 10 };
  const runner = new QueueRunner(queue, context);
  runner.start();
  return runner;
}

test('an endpoint that does not respond delays no other, and uses only its own share', async () => {
  for (let count = 0; count < 40; count++) await service.issue();
  const runner = startDeliveries({ ...context, sendTimeoutMs: 60_000 });
  await sound.waitFor(40);
  await eventually(() => unanswered.length === 16);
  assert.ok(
    unanswered.every(({ destroyed }) => !destroyed),
    'no delivery to the unresponsive endpoint has ended',
  );
  assert.equal(new Set(sound.received.map(({ headers }) => headers['webhook-id'])).size, 40);
  const stopped = runner.stop();
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

test('the task records time-based events, which are delivered', async () => {
  await pool.query('truncate webhook_messages, webhook_deliveries');
  dead.answer(500);
  const { license } = await service.issue({ productId: 'yearly' });
  await deliverDue(context, 10);
  const task = createWebhookTasks(context).find(({ name }) => name === 'time_based_events');
  const { signal } = new AbortController();
  await task?.run(signal);
  service.clock.advance(400 * DAY_MS);
  await task?.run(signal);
  const { rows } = await pool.query(
    `select license_id from webhook_messages where type = 'license.expired'`,
  );
  assert.deepEqual(rows, [{ license_id: license.id }]);
  await deliverDue(context, 10);
  const sent = sound.received.map(({ body }) => JSON.parse(body)).at(-1);
  assert.deepEqual([sent.type, sent.data.license_id], ['license.expired', license.id]);
});
