import assert from 'node:assert/strict';
import { test } from 'node:test';

import { DAY_MS, HOUR_MS, SECOND_MS } from '../../../test/test-clock.ts';
import { deliverDue } from '../../../test/webhook-steps.ts';
import { claimDueDeliveries } from './deliver.ts';
import { change, openDeliveries } from './deliveries.fixture.ts';
import { listEndpoints, rollEndpoint } from './manage-endpoints.ts';
import { replayDeliveries } from './replay.ts';

const hooks = await openDeliveries();
const { service, pool, deps, register, deliver, readLast, verify } = hooks;

async function pauseMs(): Promise<number> {
  const { nextAttemptAt } = await readLast();
  return (nextAttemptAt?.getTime() ?? Number.NaN) - service.clock.now().getTime();
}

test('sends an event with a signature that the library of Standard Webhooks accepts', async () => {
  const { license } = await service.issue();
  assert.equal(await deliver(), 1);
  const [request] = hooks.receiver.received;
  assert.equal(request?.path, '/hook');
  assert.equal(request?.headers['content-type'], 'application/json');
  assert.match(String(request?.headers['user-agent']), /^latchkey\/\d/);
  assert.match(String(request?.headers['webhook-id']), /^msg_[0-9a-f]{32}$/);
  assert.deepEqual(verify(0, hooks.secret), {
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

test('stores each attempt with the beginning of the answer', async () => {
  await service.issue();
  hooks.receiver.answer((response) =>
    response.writeHead(500).end(`<b>\0no</b>${'x'.repeat(5_000)}`),
  );
  await deliver();
  service.clock.advance(SECOND_MS * 6);
  hooks.receiver.answer(204);
  await deliver();
  const { rows } = await pool.query(
    `select status, error, left(answer, 12) as answer, length(answer) as length, duration_ms >= 0 as timed
     from webhook_attempts where endpoint_id = $1 order by attempted_at`,
    [hooks.endpointId],
  );
  assert.deepEqual(rows, [
    { status: 500, error: 'answered 500', answer: '<b>\uFFFDno</b>xx', length: 1_000, timed: true },
    { status: 204, error: null, answer: null, length: null, timed: true },
  ]);
});

test('signs with the secret of each endpoint', async () => {
  const other = await register(`${hooks.receiver.url}/other`);
  await service.issue();
  assert.equal(await deliver(), 2);
  const first = hooks.receiver.received.findIndex(({ path }) => path === '/hook');
  const second = hooks.receiver.received.findIndex(({ path }) => path === '/hook/other');
  assert.deepEqual(verify(first, hooks.secret), verify(second, other.secret));
  assert.throws(() => verify(first, other.secret), /No matching signature found/);
  assert.throws(() => verify(second, hooks.secret), /No matching signature found/);
});

test('signs with both secrets during the overlap, then only with the new one', async () => {
  const rolled = await rollEndpoint(
    service.context,
    { ...change, idOrUrl: hooks.endpointId },
    HOUR_MS,
  );
  await service.issue();
  await deliver();
  for (const each of [hooks.secret, rolled.secret]) assert.ok(verify(0, each));

  await pool.query('update webhook_endpoints set previous_secret_until = $1', [
    service.clock.now(),
  ]);
  await service.issue();
  await deliver();
  assert.ok(verify(1, rolled.secret));
  assert.throws(() => verify(1, hooks.secret), /No matching signature found/);
});

test('drops the old secret at once without an overlap', async () => {
  await rollEndpoint(service.context, { ...change, idOrUrl: hooks.receiver.url }, 0);
  await service.issue();
  await deliver();
  assert.throws(() => verify(0, hooks.secret), /No matching signature found/);
});

test('retries a failure after the delay, with the same id and a new time', async () => {
  hooks.receiver.answer(500);
  await service.issue();
  await deliver();
  assert.deepEqual([(await readLast()).state, await pauseMs()], ['pending', 5 * SECOND_MS]);
  assert.equal((await readLast()).lastError, 'answered 500');

  service.clock.advance(5 * SECOND_MS - 1);
  assert.equal(await deliver(), 0);
  hooks.receiver.answer(200);
  service.clock.advance(1);
  assert.equal(await deliver(), 1);
  const [first, second] = hooks.receiver.received;
  assert.equal(second?.headers['webhook-id'], first?.headers['webhook-id']);
  assert.equal(second?.body, first?.body);
  const [sentAt, sentAgainAt] = [first, second].map((each) =>
    Number(each?.headers['webhook-timestamp']),
  );
  assert.equal((sentAgainAt ?? 0) - (sentAt ?? 0), 5);
  assert.ok(verify(1, hooks.secret));
  const last = await readLast();
  assert.deepEqual([last.state, last.attempts], ['delivered', 2]);
});

test('stops after ten attempts in three days, until a replay', async () => {
  hooks.receiver.answer(503);
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

  hooks.receiver.answer(204);
  const subject = { failedSince: new Date(startedAt) };
  const replay = { ...change, subject, idOrUrl: null };
  assert.deepEqual(await replayDeliveries(service.context, replay), { count: 1, waiting: [] });
  assert.deepEqual(await replayDeliveries(service.context, replay), { count: 0, waiting: [] });
  assert.equal(await deliver(), 1);
  assert.equal((await readLast()).state, 'delivered');
  assert.equal(hooks.receiver.received.at(-1)?.headers['webhook-id'], messageId);
});

test('replays a message to all endpoints with a delivery, or to one without', async () => {
  await service.issue();
  await deliver();
  const { messageId } = await readLast();
  const replay = { ...change, subject: { messageId }, idOrUrl: null };
  assert.deepEqual(await replayDeliveries(service.context, replay), { count: 1, waiting: [] });
  await deliver();
  const late = await register(`${hooks.receiver.url}/late`);
  assert.deepEqual(await replayDeliveries(service.context, { ...replay, idOrUrl: late.id }), {
    count: 1,
    waiting: [],
  });
  await deliver();
  assert.deepEqual(
    hooks.receiver.received.map(({ path, headers }) => [path, headers['webhook-id']]),
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
  hooks.receiver.answer({ status: 429, headers: { 'retry-after': '120' } });
  await service.issue();
  await deliver();
  assert.equal(await pauseMs(), 120 * SECOND_MS);
});

test('fails on a timeout', async () => {
  hooks.receiver.answer(() => {});
  await service.issue();
  await deliverDue({ ...deps, sendTimeoutMs: 100 }, 10);
  const last = await readLast();
  assert.deepEqual([last.state, last.lastStatus], ['pending', null]);
  assert.equal(last.lastError, 'no answer within 0.1 s');
});

test('fails with the reason if the receiver cannot be reached', async () => {
  await hooks.receiver[Symbol.asyncDispose]();
  await service.issue();
  await deliver();
  assert.match((await readLast()).lastError ?? '', /ECONNREFUSED/);
});

test('fails on a redirect without following it', async () => {
  hooks.receiver.answer({ status: 307, headers: { location: `${hooks.receiver.url}/elsewhere` } });
  await service.issue();
  await deliver();
  assert.equal((await readLast()).lastError, 'answered 307');
  assert.deepEqual(
    hooks.receiver.received.map(({ path }) => path),
    ['/hook'],
  );
});

test('succeeds after 64 KiB of an endless response', async () => {
  let sentBytes = 0;
  hooks.receiver.answer((response) => {
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
  assert.equal((await claimDueDeliveries(deps, 3, new Map([[hooks.endpointId, 2]]))).length, 1);
  assert.equal((await claimDueDeliveries(deps, 3, new Map([[hooks.endpointId, 3]]))).length, 0);
});

test('a secret under another master secret fails only its endpoint', async () => {
  const [broken] = await listEndpoints(service.context);
  await pool.query('update webhook_endpoints set secret_sealed = $1', [
    service.context.vault.seal('whsec_x', 'something else'),
  ]);
  assert.equal(broken?.id, hooks.endpointId);
  await register(`${hooks.receiver.url}/sound`);
  await service.issue();
  await deliver();
  assert.deepEqual(
    hooks.receiver.received.map(({ path }) => path),
    ['/hook/sound'],
  );
});
