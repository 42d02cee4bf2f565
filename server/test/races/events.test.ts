import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';

import { EventBatchResponse, HeartbeatResponse, type EventIn } from '@latchkey/contract';
import { Parse } from 'typebox/value';

import { storeEvents, type EventsToStore } from '#server/features/analytics/queries/events.ts';

import type { HttpClient } from '../http-client.ts';
import { DAY_MS } from '../test-clock.ts';
import { runConcurrently, tally } from './concurrency.ts';
import { openDeployments } from './deployments.ts';

const { one, pick } = await openDeployments();

function anyEvents(count: number): EventIn[] {
  return Array.from({ length: count }, () => ({
    event_id: randomUUID(),
    name: 'app_started',
    occurred_at: one.clock.now().toISOString(),
  }));
}

async function send(service: HttpClient, events: readonly EventIn[]): Promise<number> {
  const answer = await service.post('/api/v1/events', {
    install_id: randomUUID(),
    session_id: randomUUID(),
    app_version: '1.0',
    events,
  });
  assert.equal(answer.status, 200, answer.text);
  const { accepted, dropped } = Parse(EventBatchResponse, answer.body);
  assert.equal(accepted + dropped, events.length);
  return accepted;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

async function countStored(events: readonly EventIn[]): Promise<number> {
  const { rows } = await one.pool.query<{ count: number }>(
    'select count(*) from events where event_id = any($1)',
    [events.map(({ event_id: id }) => id)],
  );
  return rows[0]?.count ?? 0;
}

test('stores a batch once that two processes receive twenty times at once', async () => {
  for (const size of [1, 40, 500]) {
    const events = anyEvents(size);
    const accepted = await runConcurrently(20, (index) => send(pick(index), events));
    assert.equal(sum(accepted), size);
    assert.equal(await countStored(events), size);
  }
});

test('stores each event once when batches share events in different orders', async () => {
  const events = anyEvents(300);
  const accepted = await runConcurrently(30, (index) => {
    const part = events.slice((index % 7) * 20, 200 + (index % 5) * 25);
    return send(pick(index), index % 2 === 0 ? part : part.toReversed());
  });
  assert.equal(sum(accepted), await countStored(events));
});

function requestOf(installId: string, events: readonly EventIn[]): EventsToStore {
  return {
    installId,
    sessionId: randomUUID(),
    appVersion: '1.0',
    osVersion: null,
    events: events.map(({ event_id: eventId, name, occurred_at: occurredAt }) => ({
      eventId,
      name,
      occurredAt,
      clientOccurredAt: null,
      props: null,
    })),
  };
}

test('stores an event that two requests of one statement contain for the first one that shares usage data', async () => {
  const [first, second] = anyEvents(2);
  assert.ok(first !== undefined && second !== undefined);
  const silent = randomUUID();
  await one.pool.query(
    `insert into activations (license_id, id, components, machine_digest, install_id, usage_sharing,
                              usage_sharing_reported_at, versions_reported_at, activated_at, last_validated_at)
     values (gen_random_uuid(), gen_random_uuid(), '{}', '', $1, false, now(), now(), now(), now())`,
    [silent],
  );
  const requests = [
    requestOf(silent, [first]),
    requestOf(randomUUID(), [second, first]),
    requestOf(randomUUID(), [first]),
  ];
  assert.deepEqual(await storeEvents(one.pool, requests, one.clock.now()), [
    { sharing: false, stored: 0 },
    { sharing: true, stored: 2 },
    { sharing: true, stored: 0 },
  ]);
  assert.equal(await countStored([first, second]), 2);
});

test('stores the first events of a day without a partition in two processes', async () => {
  one.clock.advance(30 * DAY_MS);
  const accepted = await runConcurrently(20, (index) => send(pick(index), anyEvents(3)));
  assert.equal(sum(accepted), 60);
});

test('counts all heartbeats of two processes, of which one creates the day', async () => {
  const machines = Array.from({ length: 5 }, () => randomUUID());
  const messages = await runConcurrently(100, async (index) => {
    const machine_id = machines[index % machines.length];
    const body = { machine_id, machine_fingerprint: { machine_id } };
    const answer = await pick(Math.floor(index / 5)).post('/api/v1/usage/heartbeat', body);
    return Parse(HeartbeatResponse, answer.body).message;
  });
  assert.deepEqual(tally(messages), { created: 5, updated: 95 });
  const { rows } = await one.pool.query<{ beats: number }>('select beats from usage_days');
  assert.deepEqual(
    rows.map(({ beats }) => beats),
    [20, 20, 20, 20, 20],
  );
});
