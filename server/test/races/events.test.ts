import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';

import { EventBatchResponse, HeartbeatResponse, type EventIn } from '@latchkey/contract';
import { Parse } from 'typebox/value';

import { startTestService, type TestService } from '../harness.ts';
import { DAY_MS, TEST_START } from '../test-clock.ts';
import { atOnce, tally, takeTurns } from './at-once.ts';

const one = await startTestService();
const two = await startTestService({ beside: one });
const pick = takeTurns<TestService>([one, two]);

function anyEvents(count: number): EventIn[] {
  return Array.from({ length: count }, () => ({
    event_id: randomUUID(),
    name: 'app_started',
    occurred_at: TEST_START.toISOString(),
  }));
}

async function send(service: TestService, events: readonly EventIn[]): Promise<number> {
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

test('the same batch twenty times at once, to two processes, is stored once', async () => {
  for (const size of [1, 40, 500]) {
    const events = anyEvents(size);
    const accepted = await atOnce(20, (index) => send(pick(index), events));
    assert.equal(sum(accepted), size);
    assert.equal(await countStored(events), size);
  }
});

test('batches that share events in other orders are all answered, and each event is stored once', async () => {
  const events = anyEvents(300);
  const accepted = await atOnce(30, (index) => {
    const part = events.slice((index % 7) * 20, 200 + (index % 5) * 25);
    return send(pick(index), index % 2 === 0 ? part : part.toReversed());
  });
  const told = events.slice(0, 300);
  assert.equal(sum(accepted), await countStored(told));
});

test('the first events of a day that has no place yet, at two processes, are all stored', async () => {
  one.clock.advance(30 * DAY_MS);
  const accepted = await atOnce(20, (index) => send(pick(index), anyEvents(3)));
  assert.equal(sum(accepted), 60);
});

test('of heartbeats at two processes one creates the day, and all are counted', async () => {
  const machines = Array.from({ length: 5 }, () => randomUUID());
  const messages = await atOnce(100, async (index) => {
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
