/** The audit log after `pg_dump` and `pg_restore`, as docs/operations/backup.md describes them. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';

import type { Pool } from 'pg';

import { migrate } from '#server/db/migrate.ts';
import { createPool } from '#server/db/pool.ts';
import { insertAuditEntry } from '#server/features/audit/queries.ts';
import { createLog } from '#server/log.ts';

import { runLatchkey } from '../command-line.ts';
import { lacksPostgres, startInstalledPostgres } from '../installed-postgres.ts';

const log = createLog({ level: 'fatal' });

async function suspend(pool: Pool, second: number): Promise<void> {
  await insertAuditEntry(pool, {
    occurredAt: new Date(Date.UTC(2026, 10, 20, 10, 0, second, 120)),
    actor: 'operator:anna@example.com',
    action: 'license.suspend',
    subjectId: `license ${second}`,
    reason: 'Straße – “paid”, ١٢٣ 👩‍💻',
    details: { amount: 12.5, until: null, notified: true, note: 'a\n"b"\\' },
  });
}

/** Returns the exit code, and the head as `--expect` takes it. */
async function verify(directory: string, url: string, ...args: readonly string[]) {
  const settings = { DATABASE_URL: url, LATCHKEY_SECRET: 'a master secret for the tests alone' };
  const run = await runLatchkey(['audit', 'verify', ...args], { directory, settings });
  return { code: run.code, head: /Head: (\d+:[\da-f]{64})/.exec(run.stdout)?.[1] ?? run.stderr };
}

test(
  'is complete after a dump and a restore, refuses changes, and goes on',
  { skip: lacksPostgres },
  async () => {
    await using postgres = await startInstalledPostgres();
    const { directory } = postgres;
    const from = await postgres.createDatabase('latchkey');
    const to = await postgres.createDatabase('restored');
    const file = join(directory, 'latchkey.dump');
    await using before = createTestPool(from);
    await migrate(before.pool);
    for (const second of [1, 2, 3]) await suspend(before.pool, second);
    const noted = await verify(directory, from);
    assert.match(noted.head, /^3:/);

    await postgres.run('pg_dump', ['--format=custom', `--file=${file}`, from]);
    await suspend(before.pool, 4);
    const lost = await verify(directory, from);
    await postgres.run('pg_restore', ['--no-owner', '--exit-on-error', `--dbname=${to}`, file]);

    assert.deepEqual(await verify(directory, to, '--expect', noted.head), {
      code: 0,
      head: noted.head,
    });
    assert.equal((await verify(directory, to, '--expect', lost.head)).code, 1);
    await using after = createTestPool(to);
    for (const change of [
      'update audit_log set actor = id::text',
      'delete from audit_log',
      'truncate audit_log',
    ]) {
      await assert.rejects(after.pool.query(change), /refused: the audit log is append-only/);
    }
    await suspend(after.pool, 5);
    const next = await verify(directory, to, '--expect', noted.head);
    assert.deepEqual([next.code, next.head.slice(0, 2)], [0, '4:']);
    // The entry that was lost had the same number.
    assert.equal((await verify(directory, to, '--expect', lost.head)).code, 1);
  },
);

function createTestPool(url: string): AsyncDisposable & { readonly pool: Pool } {
  const pool = createPool({ url }, { maxConnections: 2, log });
  return { pool, [Symbol.asyncDispose]: () => pool.end() };
}
