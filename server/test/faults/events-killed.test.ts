import assert from 'node:assert/strict';
import { randomInt, randomUUID } from 'node:crypto';
import { test } from 'node:test';

import { EventBatchResponse, type EventBatch } from '@latchkey/contract';
import { Parse } from 'typebox/value';

import { createPool } from '#server/db/pool.ts';
import { createLog } from '#server/log.ts';

import { eventually } from '../eventually.ts';
import { createExternalHome } from '../external-service.ts';
import type { ServiceProcess } from '../service-process.ts';

const CLIENTS = 20;
const MAX_ROUNDS = 20;
const KILLED = { code: null, signal: 'SIGKILL' };

/** Batches of one event, of several, and of many. */
const SIZES = [1, 7, 80];

function anyEvent(): EventBatch['events'][number] {
  return { event_id: randomUUID(), name: 'app_started', occurred_at: new Date().toISOString() };
}

function anyBatch(size: number): EventBatch {
  return {
    install_id: randomUUID(),
    session_id: randomUUID(),
    app_version: '1.0',
    events: Array.from({ length: size }, anyEvent),
  };
}

/** Returns the number of accepted events; null without an answer. */
async function send({ url }: ServiceProcess, batch: EventBatch): Promise<number | null> {
  try {
    const response = await fetch(`${url}/api/v1/events`, {
      method: 'POST',
      body: JSON.stringify(batch),
      headers: { 'content-type': 'application/json' },
    });
    assert.equal(response.status, 200);
    return Parse(EventBatchResponse, await response.json()).accepted;
  } catch (error) {
    // The service was killed during the request.
    if (error instanceof TypeError) return null;
    throw error;
  }
}

test(
  'stores each acknowledged or resent event once when the service is killed',
  { skip: process.platform === 'win32' },
  async () => {
    await using external = await createExternalHome();
    const settings = { LATCHKEY_EVENTS_RATE: '100000/100000' };
    const sent: EventBatch[] = [];
    const unanswered: EventBatch[] = [];
    const outcomes = { stored: 0, lost: 0 };
    let service = await external.start(settings);
    for (let round = 1; outcomes.stored === 0 || outcomes.lost === 0; round += 1) {
      assert.ok(round <= MAX_ROUNDS, `only ${JSON.stringify(outcomes)} in ${MAX_ROUNDS} rounds`);
      const goal = sent.length + 100 + randomInt(50);
      const dead = new AbortController();
      const sending = Array.from({ length: CLIENTS }, async (_, client) => {
        while (!dead.signal.aborted) {
          const batch = anyBatch(SIZES[client % SIZES.length] ?? 1);
          const accepted = await send(service, batch);
          sent.push(batch);
          if (accepted === null) unanswered.push(batch);
          else assert.equal(accepted, batch.events.length);
          if (accepted === null) return;
        }
      });
      await eventually(() => sent.length >= goal);
      assert.deepEqual(await service.stop('SIGKILL'), KILLED);
      dead.abort();
      await Promise.all(sending);
      service = await external.start(settings);
      for (const batch of unanswered.splice(0)) {
        const accepted = await send(service, batch);
        // A batch is stored as a whole or not at all.
        assert.ok(accepted === 0 || accepted === batch.events.length, `${accepted}`);
        outcomes[accepted === 0 ? 'stored' : 'lost'] += 1;
      }
    }
    assert.deepEqual(await service.stop(), { code: 0, signal: null });
    const pool = createPool(
      { url: external.settings['DATABASE_URL'] ?? '' },
      { maxConnections: 1, log: createLog({ level: 'silent' }) },
    );
    const { rows } = await pool.query<{ event_id: string }>('select event_id from events');
    await pool.end();
    const expected = sent.flatMap(({ events }) => events.map(({ event_id: id }) => id));
    assert.deepEqual(rows.map((row) => row.event_id).toSorted(), expected.toSorted());
  },
);
