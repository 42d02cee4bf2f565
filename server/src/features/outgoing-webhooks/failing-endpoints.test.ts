import assert from 'node:assert/strict';
import { test } from 'node:test';

import { DAY_MS, SECOND_MS } from '../../../test/test-clock.ts';
import { change, openDeliveries } from './deliveries.fixture.ts';
import { enableEndpoint, listEndpoints, sendTestMessage } from './manage-endpoints.ts';

const hooks = await openDeliveries();
const { service, pool, deliver, readLast } = hooks;

test('410 stops the delivery and disables the endpoint, with a log entry', async () => {
  hooks.receiver.answer(410);
  await service.issue();
  await deliver();
  const [endpoint] = await listEndpoints(service.context);
  assert.deepEqual([endpoint?.disabledReason, endpoint?.disabledAt], ['gone', service.clock.now()]);
  assert.equal((await readLast()).state, 'failed');
  const disabled = service.log.filter((line) => line.includes('webhooks.endpoint_disabled'));
  assert.match(disabled.at(-1) ?? '', /"level":"error".*410 Gone/);
  await service.issue();
  assert.equal(await service.count('webhook_messages'), 1);
});

/** Advances the clock from one due delivery to the next until a time; returns the number of attempts. */
async function deliverUntil(end: Date): Promise<number> {
  for (let attempts = 0; ;) {
    attempts += await deliver();
    const { rows } = await pool.query<{ next: Date | null }>(
      `select min(next_attempt_at) as next from webhook_deliveries where state = 'pending'`,
    );
    const next = rows[0]?.next ?? null;
    if (next === null || next >= end) {
      service.clock.set(end);
      return attempts;
    }
    service.clock.set(next);
  }
}

function inDays(days: number): Date {
  return new Date(service.clock.now().getTime() + days * DAY_MS);
}

test('disables an endpoint after five days of failures, and sends pending deliveries once it is enabled', async () => {
  hooks.receiver.answer(500);
  const fifthDay = inDays(5);
  await service.issue();
  await deliverUntil(inDays(3));
  await service.issue();
  await deliverUntil(new Date(fifthDay.getTime() - 1));
  assert.equal((await listEndpoints(service.context))[0]?.disabledReason, null);
  await service.issue();
  service.clock.advance(1);
  await deliver();
  assert.equal((await listEndpoints(service.context))[0]?.disabledReason, 'failing');
  service.clock.advance(DAY_MS);
  assert.equal(await deliver(), 0);

  hooks.receiver.answer(204);
  await enableEndpoint(service.context, { ...change, idOrUrl: hooks.endpointId });
  assert.equal(await deliver(), 2, 'the first message exhausted its retries after three days');
  assert.equal(await deliver(), 0);
});

test('a failure weeks after the last one starts a new failure period', async () => {
  hooks.receiver.answer(503);
  await service.issue();
  assert.equal(await deliverUntil(inDays(21)), 10);
  await service.issue();
  assert.equal(await deliver(), 1);
  const [endpoint] = await listEndpoints(service.context);
  assert.deepEqual([endpoint?.disabledAt, endpoint?.failingSince], [null, service.clock.now()]);
});

test('a successful test message resets failures, a failed one does not', async () => {
  hooks.receiver.answer(503);
  await service.issue();
  await deliver();
  const failingSince = service.clock.now();
  service.clock.advance(SECOND_MS);
  await sendTestMessage(service.context, hooks.endpointId, 'test');
  assert.deepEqual((await listEndpoints(service.context))[0]?.failingSince, failingSince);
  hooks.receiver.answer(204);
  await sendTestMessage(service.context, hooks.endpointId, 'test');
  assert.equal((await listEndpoints(service.context))[0]?.failingSince, null);
});

test('a success restarts the five days', async () => {
  hooks.receiver.answer(500);
  await service.issue();
  await deliver();
  service.clock.advance(4 * DAY_MS);
  hooks.receiver.answer(204);
  await deliver();
  hooks.receiver.answer(500);
  service.clock.advance(2 * DAY_MS);
  await service.issue();
  await deliver();
  const [endpoint] = await listEndpoints(service.context);
  assert.deepEqual([endpoint?.disabledAt, endpoint?.failingSince], [null, service.clock.now()]);
});
