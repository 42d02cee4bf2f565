import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, describe, test } from 'node:test';

import { createPool } from '#server/db/pool.ts';
import { listPendingMigrations, migrate } from '#server/db/migrate.ts';
import {
  ensureSigningKey,
  rotateSigningKey,
  type SigningKeyDependencies,
} from '#server/features/entitlements/rotate-signing-key.ts';
import { SigningKeyRing } from '#server/features/entitlements/key-ring.ts';
import { foreign, runImport } from '#server/features/imports/import-steps.fixture.ts';
import { createVault } from '#server/lib/vault.ts';
import { createLog } from '#server/log.ts';

import { createTestDatabase } from '../database.ts';
import { startTestService, TEST_MASTER_SECRET } from '../harness.ts';
import { createTestClock, SECOND_MS } from '../test-clock.ts';
import { runConcurrently } from './concurrency.ts';
import { spreadsTables } from '../test-cluster.ts';

const database = await createTestDatabase();
const log = createLog({ level: 'silent' });
const pools = Array.from({ length: 8 }, () =>
  createPool(database.connection, { maxConnections: 2, log }),
);
const [pool] = pools;
assert.ok(pool);
after(async () => {
  await Promise.all(pools.map((each) => each.end()));
  await database.drop();
});

const clock = createTestClock();
const vault = createVault(TEST_MASTER_SECRET);

describe('migrations', { skip: spreadsTables }, () => {
  test('eight processes that migrate an empty database concurrently apply each migration once', async () => {
    await pool.query('drop schema public cascade; create schema public');
    const pending = await listPendingMigrations(pool);
    assert.ok(pending.length >= 1);
    const applied = await Promise.all(pools.map((each) => migrate(each)));
    assert.deepEqual(applied.flat().sort(), pending);
    const { rows } = await pool.query<{ name: string }>(
      'select name from schema_migrations order by name',
    );
    assert.deepEqual(
      rows.map(({ name }) => name),
      pending,
    );
  });
});

describe('signing keys', () => {
  const contexts = pools.map((each): SigningKeyDependencies => ({ pool: each, clock, vault }));

  test('eight processes that start without a key create one', async () => {
    await Promise.all(contexts.map((context) => ensureSigningKey(context)));
    const { rows } = await pool.query('select count(*) from signing_keys');
    assert.deepEqual(rows, [{ count: 1 }]);
  });

  test('after concurrent rotations every process signs with the same key', async () => {
    clock.advance(SECOND_MS);
    const made = await Promise.all(
      contexts.map((context) =>
        rotateSigningKey(context, { immediately: true }, { actor: 'test', reason: 'a test' }),
      ),
    );
    const { rows: entries } = await pool.query(
      `select subject_id from audit_log where action = 'signing_key.rotate' and reason = 'a test'`,
    );
    assert.deepEqual(
      new Set(entries.map((row) => row.subject_id)),
      new Set(made.map(({ kid }) => kid)),
    );
    const rings = contexts.map((context) => new SigningKeyRing({ ...context, log }));
    await Promise.all(rings.map((ring) => ring.refresh()));
    const current = rings.map((ring) => ring.current(clock.now()).publicJwk.kid);
    assert.equal(new Set(current).size, 1);
    assert.ok(made.some(({ kid }) => kid === current[0]));
    const [first] = rings;
    assert.equal(first?.published.length, 1 + contexts.length);
    assert.equal(first?.published.filter(({ retiredAt }) => retiredAt === null).length, 1);
  });
});

describe('imports', () => {
  test('concurrent imports of the same keys create one license each', async () => {
    const service = await startTestService();
    const licenses = Array.from({ length: 10 }, () => foreign({ licenseKey: randomUUID() }));
    const results = await runConcurrently(6, () => runImport(service.context, licenses));
    const outcomes = results.map(({ report }) => report.outcomes);
    assert.deepEqual(
      [
        outcomes.reduce((sum, each) => sum + each.new, 0),
        outcomes.reduce((sum, each) => sum + each.same, 0),
      ],
      [10, 50],
    );
    assert.equal(await service.count('licenses'), 10);
    // The key as it is, and without hyphens.
    assert.equal(await service.count('license_keys'), 20);
  });
});
