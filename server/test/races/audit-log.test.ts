import assert from 'node:assert/strict';
import { test } from 'node:test';

import { isLockTimeout } from '#server/db/database-errors.ts';
import { inTransaction } from '#server/db/transaction.ts';
import { createApiKey } from '#server/features/api-keys/manage.ts';
import { insertAuditEntry } from '#server/features/audit/queries.ts';
import { verifyAuditLog } from '#server/features/audit/verify-chain.ts';
import { eraseCustomer } from '#server/features/customers/erase-customer.ts';
import { readPersonalData } from '#server/features/customers/personal-data.ts';
import { allowMoves, suspendLicense } from '#server/features/licenses/change-license.ts';
import { lockLicense } from '#server/features/licenses/queries/licenses.ts';
import { addEndpoint } from '#server/features/outgoing-webhooks/add-endpoint.ts';
import { suppressManually } from '#server/features/suppressions/manual-changes.ts';

import { startTestService, type TestService } from '../harness.ts';
import { runConcurrently, roundRobin, tally } from './concurrency.ts';

const one = await startTestService();
const two = await startTestService({ beside: one });
const pick = roundRobin([one, two] as const);
const by = { actor: 'test', reason: 'a race' };

function append({ pool, clock }: TestService, subjectId: string, isKept = true): Promise<void> {
  const entry = { ...by, action: 'test.append', subjectId, details: {}, occurredAt: clock.now() };
  return inTransaction(pool, async (client) => {
    await insertAuditEntry(client, entry);
    await insertAuditEntry(client, entry);
    if (!isKept) throw new Error('rolled back');
  });
}

async function countDeadlocks(): Promise<number> {
  await one.pool.query('select pg_stat_force_next_flush()');
  const { rows } = await one.pool.query(
    'select deadlocks from pg_stat_database where datname = current_database()',
  );
  return rows[0].deadlocks;
}

test('concurrent transactions of two processes, every third rolled back, create one chain without gaps', async () => {
  const before = (await verifyAuditLog(one)).verified;
  for (let round = 0; round < 10; round += 1) {
    const outcomes = await runConcurrently(12, (index) =>
      append(pick(index), `subject ${index}`, index % 3 !== 0).then(
        () => 'kept',
        (error: Error) => error.message,
      ),
    );
    assert.deepEqual(tally(outcomes), { kept: 8, 'rolled back': 4 });
  }
  const { verified, problem, head } = await verifyAuditLog(one);
  assert.deepEqual([verified - before, head?.sequence, problem], [160, verified, null]);
});

test('a chain is verified while entries are added', async () => {
  const adding = runConcurrently(20, (index) => append(pick(index), 'subject'));
  for (let round = 0; round < 10; round += 1) {
    assert.equal((await verifyAuditLog(two)).problem, null);
  }
  await adding;
});

type Change = (service: TestService, index: number) => Promise<unknown>;

/** Where the role of the tests has a lock timeout, the turn of a change may come too late on a busy machine. */
async function unlessLockTimesOut(change: Promise<unknown>): Promise<void> {
  try {
    await change;
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
  }
}

test('concurrent changes of different kinds at two processes cause no deadlock', async () => {
  const url = 'https://hooks.example.com/';
  await addEndpoint(one.context, { url, eventTypes: [], description: null }, by);
  const email = 'ada@example.com';
  const issued = await runConcurrently(4, () => one.issue({ customerEmail: email }));
  const personal = await readPersonalData(one.context, email);
  const ids = issued.map(({ license }) => license.id);
  const keyOrIdOf = roundRobin([ids[0] ?? '', ...ids.slice(1)]);
  const changes: readonly [Change, ...Change[]] = [
    (service, index) => suspendLicense(service.context, { ...by, keyOrId: keyOrIdOf(index) }),
    (service, index) => allowMoves(service.context, { ...by, keyOrId: keyOrIdOf(index + 1) }, 1),
    ({ context }) => suppressManually(context, { ...by, email }),
    ({ context }, index) =>
      createApiKey(
        context,
        { name: `key ${index}`, scopes: ['metrics:read'], term: { days: 1 } },
        by,
      ),
    ({ context }) => eraseCustomer(context, personal, { ...by, revoke: true }),
  ];
  const turn = roundRobin(changes);
  const before = await countDeadlocks();
  for (let round = 0; round < 6; round += 1) {
    await runConcurrently(10, (index) =>
      unlessLockTimesOut(turn(index)(pick(Math.floor(index / 5)), round * 10 + index)),
    );
  }
  assert.equal(await countDeadlocks(), before);
  assert.equal((await verifyAuditLog(one)).problem, null);
});

test('the test harness rejects a statement that follows an audit entry in its transaction', async () => {
  const entry = { ...by, action: 'test.append', subjectId: 'a', details: {} };
  const locking = inTransaction(one.pool, async (client) => {
    await insertAuditEntry(client, { ...entry, occurredAt: one.clock.now() });
    await lockLicense(client, '01a204f5-389d-76a8-8833-70949fed57e1');
  });
  await assert.rejects(locking, /license_lock_by_id follows audit_insert/u);
});
