import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startTestService } from '../../../test/harness.ts';
import { createEventPartitions } from '../analytics/create-event-partitions.ts';
import { addDays, dayOf, startOf } from '../analytics/rules/days.ts';
import { insertAuditEntry } from '../audit/queries.ts';
import { BACKUP_VERIFIED, InstallationWatch, readInstallation } from './watch-installation.ts';

const service = await startTestService();
const { context, pool, clock } = service;

async function recordBackup(action: string, occurredAt: Date): Promise<void> {
  const entry = { actor: 'cli:test', subjectId: 'database', reason: null, details: {} };
  await insertAuditEntry(pool, { ...entry, action, occurredAt });
}

test('reads the size of the database, the last verified backup and the end of the partitions', async () => {
  const first = await readInstallation(context);
  assert.ok(first.databaseBytes > 1_000_000);
  assert.equal(first.lastBackupAt, null);
  const today = dayOf(clock.now());
  assert.deepEqual(first.eventPartitionsUntil, startOf(today));

  await createEventPartitions(pool, clock.now());
  const { eventPartitionsUntil } = await readInstallation(context);
  assert.deepEqual(eventPartitionsUntil, startOf(addDays(today, 8)));

  await recordBackup(BACKUP_VERIFIED, new Date('2026-01-02T03:04:05Z'));
  await recordBackup(BACKUP_VERIFIED, new Date('2026-01-01T00:00:00Z'));
  // An attempt that was interrupted, or whose file could not be verified.
  await recordBackup('database.backup', new Date('2026-02-01T00:00:00Z'));
  const { lastBackupAt } = await readInstallation(context);
  assert.deepEqual(lastBackupAt, new Date('2026-01-02T03:04:05Z'));
});

test('finds the last backup by the index', async () => {
  const client = await pool.connect();
  // The table is small.
  await client.query('set enable_seqscan = off');
  const { rows } = await client.query(
    `explain select occurred_at from audit_log where action collate "C" = $1
     order by occurred_at desc limit 1`,
    [BACKUP_VERIFIED],
  );
  client.release(true);
  assert.match(JSON.stringify(rows), /Index (?:Only )?Scan Backward using audit_log_action/u);
  assert.doesNotMatch(JSON.stringify(rows), /Sort/u);
});

test('counts licenses by status, at most each minute', async () => {
  await service.issue({});
  await service.issue({ facts: { revoked_at: clock.now() } });
  const watch = new InstallationWatch(context);
  assert.deepEqual([watch.facts, watch.licenses], [null, null]);
  for (const task of watch.tasks) {
    const delayMs = (await task.run(new AbortController().signal)) ?? task.intervalMs;
    assert.ok(delayMs >= 60_000);
  }
  assert.equal(watch.facts?.databaseBytes, (await readInstallation(context)).databaseBytes);
  assert.deepEqual(watch.licenses, {
    revoked: 1,
    refunded: 0,
    suspended: 0,
    paused: 0,
    canceled: 0,
    expired: 0,
    past_due: 0,
    active: 1,
  });
});
