import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';

import { Webhook } from 'standardwebhooks';

import { startTestService } from '../../../test/harness.ts';
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../../test/test-clock.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../../test/webhook-receiver.ts';
import { deliverDue } from '../../../test/webhook-steps.ts';
import { addEndpoint } from './add-endpoint.ts';
import {
  enableEndpoint,
  listEndpoints,
  rollEndpoint,
  sendTestMessage,
} from './manage-endpoints.ts';
import { claimDueDeliveries, type DeliveryDependencies } from './deliver.ts';
import { listDeliveries } from './queries/delivery-log.ts';
import { replayDeliveries } from './replay.ts';

const service = await startTestService();
const { pool } = service;
/** Disables jitter, so that the clock can be set to the end of a delay. */
const deps = { ...service.context, random: () => 0.5 } satisfies DeliveryDependencies;
const change = { actor: 'test', reason: 'requested by a test' };

let receiver: WebhookReceiver;
let endpointId: string;
let secret: string;

beforeEach(async () => {
  // Receivers compare the time of a message with their clock.
  service.clock.set(new Date());
  await pool.query('truncate webhook_endpoints, webhook_messages, webhook_deliveries');
  receiver = await startWebhookReceiver();
  ({ id: endpointId, secret } = await register(receiver.url));
});
afterEach(() => receiver[Symbol.asyncDispose]());

async function register(url: string) {
  const order = { url, eventTypes: [], description: null };
  const added = await addEndpoint(service.context, order, change);
  return { id: added.endpoint.id, secret: added.secret };
}

function deliver(): Promise<number> {
  return deliverDue(deps, 10);
}

/** Returns the newest delivery of the log. */
async function readLast() {
  const filter = { endpointId: null, failedOnly: false, limit: 1 };
  const [last] = await listDeliveries(pool, filter);
  assert.ok(last !== undefined);
  return last;
}

async function pauseMs(): Promise<number> {
  const { nextAttemptAt } = await readLast();
  return (nextAttemptAt?.getTime() ?? Number.NaN) - service.clock.now().getTime();
}

function verify(index: number, by: string): unknown {
  const request = receiver.received[index];
  assert.ok(request !== undefined);
  const { headers, body } = request;
  return new Webhook(by).verify(body, {
    'webhook-id': String(headers['webhook-id']),
    'webhook-timestamp': String(headers['webhook-timestamp']),
    'webhook-signature': String(headers['webhook-signature']),
  });
}

test('sends an event with a signature that the library of Standard Webhooks accepts', async () => {
  const { license } = await service.issue();
  assert.equal(await deliver(), 1);
  const [request] = receiver.received;
  assert.equal(request?.path, '/hook');
  assert.equal(request?.headers['content-type'], 'application/json');
  assert.match(String(request?.headers['user-agent']), /^latchkey\/\d/);
  assert.match(String(request?.headers['webhook-id']), /^msg_[0-9a-f]{32}$/);
  assert.deepEqual(verify(0, secret), {
    type: 'license.created',
    timestamp: license.createdAt.toISOString(),
    data: {
      license_id: license.id,
      key_hint: license.keyHint,
      product: 'personal',
      tier: 'personal',
      trial: false,
      status: 'active',
      expires_at: null,
    },
  });
  const last = await readLast();
  assert.deepEqual(
    [last.state, last.attempts, last.lastStatus, last.lastError, last.nextAttemptAt],
    ['delivered', 1, 204, null, null],
  );
  assert.equal(await deliver(), 0);
});

test('signs with the secret of each endpoint', async () => {
  const other = await register(`${receiver.url}/other`);
  await service.issue();
  assert.equal(await deliver(), 2);
  const first = receiver.received.findIndex(({ path }) => path === '/hook');
  const second = receiver.received.findIndex(({ path }) => path === '/hook/other');
  assert.deepEqual(verify(first, secret), verify(second, other.secret));
  assert.throws(() => verify(first, other.secret), /No matching signature found/);
  assert.throws(() => verify(second, secret), /No matching signature found/);
});

test('signs with both secrets during the overlap, then only with the new one', async () => {
  const rolled = await rollEndpoint(service.context, { ...change, idOrUrl: endpointId }, HOUR_MS);
  await service.issue();
  await deliver();
  for (const each of [secret, rolled.secret]) assert.ok(verify(0, each));

  await pool.query('update webhook_endpoints set previous_secret_until = $1', [
    service.clock.now(),
  ]);
  await service.issue();
  await deliver();
  assert.ok(verify(1, rolled.secret));
  assert.throws(() => verify(1, secret), /No matching signature found/);
});

test('drops the old secret at once without an overlap', async () => {
  await rollEndpoint(service.context, { ...change, idOrUrl: receiver.url }, 0);
  await service.issue();
  await deliver();
  assert.throws(() => verify(0, secret), /No matching signature found/);
});

test('retries a failure after the delay, with the same id and a new time', async () => {
  receiver.answer(500);
  await service.issue();
  await deliver();
  assert.deepEqual([(await readLast()).state, await pauseMs()], ['pending', 5 * SECOND_MS]);
  assert.equal((await readLast()).lastError, 'answered 500');

  service.clock.advance(5 * SECOND_MS - 1);
  assert.equal(await deliver(), 0);
  receiver.answer(200);
  service.clock.advance(1);
  assert.equal(await deliver(), 1);
  const [first, second] = receiver.received;
  assert.equal(second?.headers['webhook-id'], first?.headers['webhook-id']);
  assert.equal(second?.body, first?.body);
  const [sentAt, sentAgainAt] = [first, second].map((each) =>
    Number(each?.headers['webhook-timestamp']),
  );
  assert.equal((sentAgainAt ?? 0) - (sentAt ?? 0), 5);
  assert.ok(verify(1, secret));
  const last = await readLast();
  assert.deepEqual([last.state, last.attempts], ['delivered', 2]);
});

test('stops after ten attempts in three days, until a replay', async () => {
  receiver.answer(503);
  await service.issue();
  const startedAt = service.clock.now().getTime();
  for (let attempt = 1; attempt <= 10; attempt++) {
    assert.equal(await deliver(), 1, `attempt ${attempt}`);
    const { nextAttemptAt } = await readLast();
    if (nextAttemptAt !== null) service.clock.set(nextAttemptAt);
  }
  const hours = (service.clock.now().getTime() - startedAt) / HOUR_MS;
  assert.ok(hours > 75 && hours < 76, String(hours));
  const { state, messageId } = await readLast();
  assert.equal(state, 'failed');
  service.clock.advance(DAY_MS / 2);
  assert.equal(await deliver(), 0);

  receiver.answer(204);
  const subject = { failedSince: new Date(startedAt) };
  const replay = { ...change, subject, idOrUrl: null };
  assert.deepEqual(await replayDeliveries(service.context, replay), { count: 1, waiting: [] });
  assert.deepEqual(await replayDeliveries(service.context, replay), { count: 0, waiting: [] });
  assert.equal(await deliver(), 1);
  assert.equal((await readLast()).state, 'delivered');
  assert.equal(receiver.received.at(-1)?.headers['webhook-id'], messageId);
});

test('replays a message to all endpoints with a delivery, or to one without', async () => {
  await service.issue();
  await deliver();
  const { messageId } = await readLast();
  const replay = { ...change, subject: { messageId }, idOrUrl: null };
  assert.deepEqual(await replayDeliveries(service.context, replay), { count: 1, waiting: [] });
  await deliver();
  const late = await register(`${receiver.url}/late`);
  assert.deepEqual(await replayDeliveries(service.context, { ...replay, idOrUrl: late.id }), {
    count: 1,
    waiting: [],
  });
  await deliver();
  assert.deepEqual(
    receiver.received.map(({ path, headers }) => [path, headers['webhook-id']]),
    [
      ['/hook', messageId],
      ['/hook', messageId],
      ['/hook/late', messageId],
    ],
  );
  const unknown = { ...replay, subject: { messageId: 'msg_unknown' } };
  await assert.rejects(
    replayDeliveries(service.context, unknown),
    /There is no delivery to replay/,
  );
});

test('observes a longer Retry-After', async () => {
  receiver.answer({ status: 429, headers: { 'retry-after': '120' } });
  await service.issue();
  await deliver();
  assert.equal(await pauseMs(), 120 * SECOND_MS);
});

test('410 stops the delivery and disables the endpoint, with a log entry', async () => {
  receiver.answer(410);
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
  receiver.answer(500);
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

  receiver.answer(204);
  await enableEndpoint(service.context, { ...change, idOrUrl: endpointId });
  assert.equal(await deliver(), 2, 'the first message exhausted its retries after three days');
  assert.equal(await deliver(), 0);
});

test('a failure weeks after the last one starts a new failure period', async () => {
  receiver.answer(503);
  await service.issue();
  assert.equal(await deliverUntil(inDays(21)), 10);
  await service.issue();
  assert.equal(await deliver(), 1);
  const [endpoint] = await listEndpoints(service.context);
  assert.deepEqual([endpoint?.disabledAt, endpoint?.failingSince], [null, service.clock.now()]);
});

test('a successful test message resets failures, a failed one does not', async () => {
  receiver.answer(503);
  await service.issue();
  await deliver();
  const failingSince = service.clock.now();
  service.clock.advance(SECOND_MS);
  await sendTestMessage(service.context, endpointId);
  assert.deepEqual((await listEndpoints(service.context))[0]?.failingSince, failingSince);
  receiver.answer(204);
  await sendTestMessage(service.context, endpointId);
  assert.equal((await listEndpoints(service.context))[0]?.failingSince, null);
});

test('a success restarts the five days', async () => {
  receiver.answer(500);
  await service.issue();
  await deliver();
  service.clock.advance(4 * DAY_MS);
  receiver.answer(204);
  await deliver();
  receiver.answer(500);
  service.clock.advance(2 * DAY_MS);
  await service.issue();
  await deliver();
  const [endpoint] = await listEndpoints(service.context);
  assert.deepEqual([endpoint?.disabledAt, endpoint?.failingSince], [null, service.clock.now()]);
});

test('fails on a timeout', async () => {
  receiver.answer(() => {});
  await service.issue();
  await deliverDue({ ...deps, sendTimeoutMs: 100 }, 10);
  const last = await readLast();
  assert.deepEqual([last.state, last.lastStatus], ['pending', null]);
  assert.equal(last.lastError, 'no answer within 0.1 s');
});

test('fails with the reason if the receiver cannot be reached', async () => {
  await receiver[Symbol.asyncDispose]();
  await service.issue();
  await deliver();
  assert.match((await readLast()).lastError ?? '', /ECONNREFUSED/);
});

test('fails on a redirect without following it', async () => {
  receiver.answer({ status: 307, headers: { location: `${receiver.url}/elsewhere` } });
  await service.issue();
  await deliver();
  assert.equal((await readLast()).lastError, 'answered 307');
  assert.deepEqual(
    receiver.received.map(({ path }) => path),
    ['/hook'],
  );
});

test('succeeds after 64 KiB of an endless response', async () => {
  let sentBytes = 0;
  receiver.answer((response) => {
    response.writeHead(200);
    const chunk = Buffer.alloc(16 * 1024);
    const timer = setInterval(() => {
      sentBytes += chunk.byteLength;
      response.write(chunk);
    }, 1);
    response.once('close', () => clearInterval(timer));
  });
  await service.issue();
  const startedAt = performance.now();
  await deliver();
  assert.ok(performance.now() - startedAt < 5_000);
  assert.equal((await readLast()).state, 'delivered');
  assert.ok(sentBytes < 16 * 1024 * 1024, String(sentBytes));
});

test('another process repeats a delivery after a minute if its process was killed', async () => {
  await service.issue();
  assert.equal((await claimDueDeliveries(deps, 10, new Map())).length, 1);
  service.clock.advance(60 * SECOND_MS - 1);
  assert.equal(await deliver(), 0);
  service.clock.advance(1);
  assert.equal(await deliver(), 1);
  assert.equal((await readLast()).state, 'delivered');
});

test('two processes never claim the same delivery', async () => {
  for (let count = 0; count < 20; count++) await service.issue();
  const claims = await Promise.all([1, 2, 3, 4].map(() => claimDueDeliveries(deps, 10, new Map())));
  const taken = claims.flat().map(({ messageId }) => messageId);
  assert.equal(new Set(taken).size, taken.length);
  assert.equal(taken.length, 20);
});

test('deliveries in progress count towards the limit of their endpoint', async () => {
  for (let count = 0; count < 5; count++) await service.issue();
  assert.equal((await claimDueDeliveries(deps, 3, new Map([[endpointId, 2]]))).length, 1);
  assert.equal((await claimDueDeliveries(deps, 3, new Map([[endpointId, 3]]))).length, 0);
});

test('a secret under another master secret fails only its endpoint', async () => {
  const [broken] = await listEndpoints(service.context);
  await pool.query('update webhook_endpoints set secret_sealed = $1', [
    service.context.vault.seal('whsec_x', 'something else'),
  ]);
  assert.equal(broken?.id, endpointId);
  await register(`${receiver.url}/sound`);
  await service.issue();
  await deliver();
  assert.deepEqual(
    receiver.received.map(({ path }) => path),
    ['/hook/sound'],
  );
});
