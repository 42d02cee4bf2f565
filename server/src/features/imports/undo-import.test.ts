import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';

import { startTestService } from '../../../test/harness.ts';
import { activate } from '../../../test/license-steps.ts';
import {
  createPaddlePurchase,
  deliverPaddle,
} from '../../../test/payment-providers/paddle-steps.ts';
import { paddleTransactionCompleted } from '../../../test/payment-providers/paddle-events.ts';
import { hashWithAllSecrets } from '../licenses/license-key.ts';
import { findLicenseIdByKey } from '../licenses/queries/license-keys.ts';
import { findLicense } from '../licenses/queries/licenses.ts';
import { countUse } from '../compatible-licenses/queries/uses.ts';
import { findSeatByInstance, recordSeatUse } from '../licenses/queries/imported-seats.ts';
import { foreign, runImport } from './import-steps.fixture.ts';
import { showImport } from './show-imports.ts';
import { undoImport } from './undo-import.ts';

const service = await startTestService();
const { context, pool } = service;
const by = { actor: 'cli:test', reason: 'wrong file' };

const TABLES = [
  'licenses',
  'license_keys',
  'license_transactions',
  'license_names',
  'imported_licenses',
  'imported_seats',
];

async function countRows(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of TABLES) counts[table] = await service.count(table);
  return counts;
}

function anyKey(): string {
  return randomUUID().toUpperCase();
}

async function idOf(licenseKey: string): Promise<string | null> {
  return findLicenseIdByKey(pool, hashWithAllSecrets(context, licenseKey));
}

test('removes every trace of licenses that nothing happened to, and the import can be repeated', async () => {
  const before = await countRows();
  const licenses = Array.from({ length: 250 }, (_, index) =>
    foreign({
      sourceId: `u-${index}`,
      licenseKey: anyKey(),
      transactionId: `t-${index}`,
      usedSeats: 1,
    }),
  );
  const { importId } = await runImport(context, licenses);
  assert.ok(importId);
  const during = await countRows();
  const rehearsal = await undoImport(context, { importId, ...by, dryRun: true });
  const expected = {
    removed: 250,
    released: 0,
    restored: 0,
    kept: { activated: 0, paid: 0, changed: 0 },
  };
  assert.deepEqual(rehearsal, expected);
  assert.deepEqual(await countRows(), during);
  assert.deepEqual(await undoImport(context, { importId, ...by, dryRun: false }), expected);
  assert.deepEqual(await countRows(), before);
  const { rows } = await pool.query(
    `select reason, details from audit_log where action = 'license.import_undone' and subject_id = $1`,
    [importId],
  );
  assert.deepEqual(rows, [
    {
      reason: by.reason,
      details: { removed: 250, released: 0, restored: 0, activated: 0, paid: 0, changed: 0 },
    },
  ]);
  assert.equal((await runImport(context, licenses)).report.outcomes.new, 250);
});

test('keeps licenses that were activated, paid or changed, and releases those from before', async () => {
  const purchase = createPaddlePurchase();
  const [activated, paid, changed, untouched] = ['a', 'p', 'c', 'n'].map((id) =>
    foreign({
      sourceId: `k-${id}`,
      licenseKey: anyKey(),
      ...(id === 'p' ? { provider: 'paddle' as const, transactionId: purchase.transactionId } : {}),
    }),
  );
  assert.ok(activated && paid && changed && untouched);
  const { licenseKey: earlier } = await service.issue();
  const linked = foreign({ sourceId: 'k-earlier', licenseKey: earlier });
  const { importId, report } = await runImport(context, [
    activated,
    paid,
    changed,
    untouched,
    linked,
  ]);
  assert.ok(importId);
  assert.deepEqual([report.outcomes.new, report.outcomes.same], [4, 1]);
  await activate(service, activated.licenseKey ?? '');
  await deliverPaddle(service, paddleTransactionCompleted(purchase.once));
  await pool.query('update licenses set note = $2 where id = $1', [
    await idOf(changed.licenseKey ?? ''),
    'called',
  ]);
  const kept: [string, string][] = [];
  const result = await undoImport(context, { importId, ...by, dryRun: false }, (license) => {
    kept.push([license.sourceId, license.state]);
  });
  assert.deepEqual(result, {
    removed: 1,
    released: 1,
    restored: 0,
    kept: { activated: 1, paid: 1, changed: 1 },
  });
  assert.deepEqual(kept, [
    ['k-a', 'activated'],
    ['k-c', 'changed'],
    ['k-p', 'paid'],
  ]);
  assert.equal(await idOf(untouched.licenseKey ?? ''), null);
  for (const key of [activated, paid, changed].map(({ licenseKey }) => licenseKey ?? '')) {
    assert.ok(await idOf(key));
  }
  assert.ok(await idOf(earlier));
  const shown = await showImport(context, importId, 10);
  assert.equal(shown?.licenses.length, 3);
  assert.ok(shown.record.undoneAt);
});

const undo = (importId = '', dryRun = false) => undoImport(context, { importId, ...by, dryRun });

async function endOf(licenseKey: string): Promise<Date | null | undefined> {
  return (await findLicense(pool, (await idOf(licenseKey)) ?? ''))?.expiresAt;
}

describe('an end that an import extended', () => {
  const FIRST = new Date('2031-01-01T00:00:00Z');
  const SECOND = new Date('2032-01-01T00:00:00Z');
  const THIRD = new Date('2033-01-01T00:00:00Z');

  async function importEnds(sourceId: string) {
    const license = foreign({ sourceId, licenseKey: anyKey(), isSubscription: true });
    const ids: string[] = [];
    for (const expiresAt of [FIRST, SECOND, THIRD]) {
      const { importId } = await runImport(context, [{ ...license, expiresAt }]);
      ids.push(importId ?? '');
    }
    return { licenseKey: license.licenseKey ?? '', license, ids };
  }

  test('is restored, the latest first, until the first import removes the license', async () => {
    const { licenseKey, license, ids } = await importEnds('ends');
    const [first, second, third] = ids;
    assert.deepEqual((await undo(second, true))?.kept, { activated: 0, paid: 0, changed: 1 });
    assert.deepEqual((await undo(third, true))?.restored, 1);
    assert.deepEqual(await endOf(licenseKey), THIRD);
    assert.deepEqual((await undo(third))?.restored, 1);
    assert.deepEqual(await endOf(licenseKey), SECOND);
    assert.deepEqual((await undo(first))?.kept, { activated: 0, paid: 0, changed: 1 });
    const again = await runImport(context, [{ ...license, expiresAt: THIRD }]);
    assert.equal(again.report.outcomes.renewed, 1);
    assert.deepEqual((await undo(again.importId ?? ''))?.restored, 1);
    assert.deepEqual((await undo(second))?.restored, 1);
    assert.deepEqual(await endOf(licenseKey), FIRST);
    assert.equal((await undo(first))?.removed, 1);
  });

  test('stays if the license was changed or activated since, and is reported', async () => {
    for (const [name, change] of Object.entries({
      changed: async (key: string) =>
        pool.query(`update licenses set note = 'called' where id = $1`, [await idOf(key)]),
      activated: (key: string) => activate(service, key),
    })) {
      const { licenseKey, ids } = await importEnds(`ends-${name}`);
      await change(licenseKey);
      const kept: string[] = [];
      const request = { importId: ids[2] ?? '', ...by, dryRun: false };
      const result = await undoImport(context, request, ({ state }) => kept.push(state));
      assert.deepEqual([result?.restored, kept], [0, [name]]);
      assert.deepEqual(await endOf(licenseKey), THIRD);
    }
  });
});

test('keeps licenses that programs of the previous system used here', async () => {
  const device = { id: 'instance-1', label: null, lastSeenAt: null };
  const [seated, counted] = ['seated', 'counted'].map((id) =>
    foreign({ sourceId: `o-${id}`, licenseKey: anyKey(), devices: [device] }),
  );
  assert.ok(seated && counted);
  const { importId } = await runImport(context, [seated, counted]);
  assert.ok(importId);
  const seat = await findSeatByInstance(
    pool,
    (await idOf(seated.licenseKey ?? '')) ?? '',
    'instance-1',
  );
  assert.ok(seat);
  await recordSeatUse(pool, seat, service.clock.now(), service.clock.now());
  await countUse(pool, (await idOf(counted.licenseKey ?? '')) ?? '');
  const result = await undoImport(context, { importId, ...by, dryRun: false });
  assert.deepEqual(result?.kept, { activated: 2, paid: 0, changed: 0 });
});

test('an undo and an activation at the same time keep the license or refuse the machine', async () => {
  const licenses = Array.from({ length: 20 }, (_, index) =>
    foreign({ sourceId: `race-${index}`, licenseKey: anyKey() }),
  );
  const { importId } = await runImport(context, licenses);
  assert.ok(importId);
  const activating = licenses.map(({ licenseKey }) =>
    service.post('/api/v1/licenses/activate', {
      license_key: licenseKey,
      machine_fingerprint: { machine_id: 'one' },
    }),
  );
  const [result, ...answers] = await Promise.all([
    undoImport(context, { importId, ...by, dryRun: false }),
    ...activating,
  ]);
  const activated = answers.filter(({ status }) => status === 200).length;
  assert.ok(answers.every(({ status }) => status === 200 || status === 404));
  const { rows } = await pool.query(
    `select count(*)::int as orphans from activations a
     where not exists (select from licenses l where l.id = a.license_id)`,
  );
  assert.deepEqual(rows, [{ orphans: 0 }]);
  assert.deepEqual([result?.removed, result?.kept.activated], [20 - activated, activated]);
});

test('returns null for an unknown import', async () => {
  const importId = randomUUID();
  assert.equal(await undoImport(context, { importId, ...by, dryRun: false }), null);
});
