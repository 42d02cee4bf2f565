import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { Client } from 'pg';

import { startTestService } from '../harness.ts';
import { activate, anyMachine, validate } from '../license-steps.ts';

const service = await startTestService();

/** Longer than every timeout of locks and statements. */
const LOCKED_MS = 6_000;

/** The limit for other clients: a statement may wait for a lock first, on a busy machine. */
const MAX_RESPONSE_MS = 4_000;

async function createMachine() {
  const { licenseKey, license } = await service.issue({ maxActivations: 1_000 });
  const { machine_id: machineId } = anyMachine();
  const { activation_id: id } = await activate(service, licenseKey, { machine_id: machineId });
  return { licenseKey, licenseId: license.id, machineId, id };
}

type Machine = Awaited<ReturnType<typeof createMachine>>;

/** Locks a row in a transaction that stays open, as an operator with psql might. */
async function lockRow(table: string, id: string): Promise<Client> {
  const holder = new Client(service.database.connection.url);
  await holder.connect();
  await holder.query('begin');
  await holder.query(`select from ${table} where id = $1 for update`, [id]);
  return holder;
}

/** Runs ten clients that need the row; asserts that each response is 503. */
async function requestLocked(isOver: () => boolean, ask: () => Promise<number>): Promise<void> {
  const clients = Array.from({ length: 10 }, async () => {
    while (!isOver()) {
      assert.equal(await ask(), 503);
      await sleep(50);
    }
  });
  await Promise.all(clients);
}

/** Runs clients that need other rows; asserts that all succeed in time. */
async function requestOthers(isOver: () => boolean, others: readonly Machine[]): Promise<number> {
  let answers = 0;
  const clients = others.map(async ({ licenseKey, id, machineId }) => {
    while (!isOver()) {
      const startedAt = performance.now();
      assert.equal((await validate(service, licenseKey, id, machineId)).valid, true);
      const validatedAt = performance.now();
      await activate(service, licenseKey, { machine_id: machineId });
      const tookMs = [validatedAt - startedAt, performance.now() - validatedAt];
      assert.ok(Math.max(...tookMs) < MAX_RESPONSE_MS, `${tookMs.join(' and ')} ms`);
      answers++;
      await sleep(50);
    }
  });
  await Promise.all(clients);
  return answers;
}

const cases: [string, string, (machine: Machine) => Promise<number>][] = [
  [
    'an activation',
    'activations',
    async ({ licenseKey, id, machineId }) =>
      (
        await service.post('/api/v1/licenses/validate', {
          license_key: licenseKey,
          activation_id: id,
          machine_id: machineId,
        })
      ).status,
  ],
  [
    'a license',
    'licenses',
    async ({ licenseKey }) =>
      (
        await service.post('/api/v1/licenses/activate', {
          license_key: licenseKey,
          machine_fingerprint: anyMachine(),
        })
      ).status,
  ],
];

// Concurrently, because each test lasts six seconds.
describe('a locked row', { concurrency: true }, () => {
  for (const [what, table, ask] of cases) {
    test(`locking ${what} for six seconds fails only requests that need it`, async () => {
      const locked = await createMachine();
      const others = await Promise.all(Array.from({ length: 8 }, createMachine));
      const end = performance.now() + LOCKED_MS;
      const isOver = (): boolean => performance.now() > end;
      const holder = await lockRow(table, table === 'licenses' ? locked.licenseId : locked.id);
      try {
        const [answers] = await Promise.all([
          requestOthers(isOver, others),
          requestLocked(isOver, () => ask(locked)),
        ]);
        assert.ok(answers >= others.length * 2, `${answers} answers`);
      } finally {
        await holder.end();
      }
      assert.equal(await ask(locked), 200);
    });
  }
});
