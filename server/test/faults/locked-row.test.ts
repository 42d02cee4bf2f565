import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { Client } from 'pg';

import { startTestService } from '../harness.ts';
import { activate, anyMachine, validate } from '../license-steps.ts';

const service = await startTestService();

/** Longer than anybody waits for a lock, or for the database. */
const HELD_MS = 6_000;

/** What the others may have to wait now and then: the time that a statement waits for a lock, on a busy machine. */
const PATIENCE_MS = 4_000;

async function makeMachine() {
  const { licenseKey, license } = await service.issue({ maxActivations: 1_000 });
  const { machine_id: machineId } = anyMachine();
  const { activation_id: id } = await activate(service, licenseKey, { machine_id: machineId });
  return { licenseKey, licenseId: license.id, machineId, id };
}

type Machine = Awaited<ReturnType<typeof makeMachine>>;

/** Holds a row as somebody with psql does who forgot to commit. */
async function holdRow(table: string, id: string): Promise<Client> {
  const holder = new Client(service.database.connection.url);
  await holder.connect();
  await holder.query('begin');
  await holder.query(`select from ${table} where id = $1 for update`, [id]);
  return holder;
}

/** Ten clients who want the row, on and on: each is answered or told to come again. */
async function wantIt(isOver: () => boolean, ask: () => Promise<number>): Promise<void> {
  const clients = Array.from({ length: 10 }, async () => {
    while (!isOver()) {
      assert.equal(await ask(), 503);
      await sleep(50);
    }
  });
  await Promise.all(clients);
}

/** Others, who want other rows: all are answered, and soon. */
async function serveOthers(isOver: () => boolean, others: readonly Machine[]): Promise<number> {
  let answers = 0;
  const clients = others.map(async ({ licenseKey, id, machineId }) => {
    while (!isOver()) {
      const startedAt = performance.now();
      assert.equal((await validate(service, licenseKey, id, machineId)).valid, true);
      const validatedAt = performance.now();
      await activate(service, licenseKey, { machine_id: machineId });
      const tookMs = [validatedAt - startedAt, performance.now() - validatedAt];
      assert.ok(Math.max(...tookMs) < PATIENCE_MS, `${tookMs.join(' and ')} ms`);
      answers++;
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

for (const [what, table, ask] of cases) {
  test(`${what} that somebody locks for six seconds is 503 alone; the others are served`, async () => {
    const wanted = await makeMachine();
    const others = await Promise.all(Array.from({ length: 8 }, makeMachine));
    const end = performance.now() + HELD_MS;
    const isOver = (): boolean => performance.now() > end;
    const holder = await holdRow(table, table === 'licenses' ? wanted.licenseId : wanted.id);
    try {
      const [answers] = await Promise.all([
        serveOthers(isOver, others),
        wantIt(isOver, () => ask(wanted)),
      ]);
      assert.ok(answers >= others.length * 2, `${answers} answers`);
    } finally {
      await holder.end();
    }
    assert.equal(await ask(wanted), 200);
  });
}
