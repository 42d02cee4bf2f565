import assert from 'node:assert/strict';
import { cp, mkdtemp, readFile, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';

import * as fc from 'fast-check';
import type { Pool } from 'pg';

import { openTestPool } from '../../../test/database-pool.ts';
import { digestTables } from '../../../test/table-digests.ts';
import { spreadsTables } from '../../../test/test-cluster.ts';
import { listKnownMigrations } from '../migrate.ts';
import { BackupError } from './backup-error.ts';
import { openBackup } from './read-backup.ts';
import { requireKnownSchema, restoreBackup, type Restored } from './restore-backup.ts';
import { TABLES } from './tables.ts';
import { verifyBackup } from './verify-backup.ts';
import { writeBackup } from './write-backup.ts';

const silent = (): void => {};

const directory = await mkdtemp(join(tmpdir(), 'latchkey-backup-'));
after(() => rm(directory, { recursive: true }));

let files = 0;
const newPath = (): string => join(directory, `${(files += 1)}.zst`);

async function back(pool: Pool, path = newPath(), report = silent) {
  const now = new Date('2026-11-28T01:02:03Z');
  const options = { pool, secretIds: ['0a1b2c'], version: '1.0.0', now, report };
  const written = await writeBackup(path, options);
  return { path, ...written };
}

async function restore(path: string, pool: Pool, migrations?: URL): Promise<Restored> {
  await using backup = await openBackup(path);
  const options = { pool, report: silent, readFreeMib, beforeCommit: async () => {} };
  return await restoreBackup(backup, migrations ? { ...options, directory: migrations } : options);
}

const readFreeMib = async (): Promise<number> => Infinity;

async function empty(pool: Pool): Promise<void> {
  await pool.query('drop schema public cascade; create schema public');
}

const isBackupError = (pattern: RegExp) => (error: unknown) => {
  assert.ok(error instanceof BackupError, String(error));
  assert.match(error.message, pattern);
  return true;
};

/** Any text that PostgreSQL stores, with what COPY escapes more often. */
const text = fc
  .array(
    fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('\\.', '\n', '\t', '\\N', '\r')),
    {
      maxLength: 6,
    },
  )
  .map((parts) => parts.join('').replaceAll('\0', ''));

const row = fc.record({
  text,
  texts: fc.array(text, { maxLength: 3 }),
  bytes: fc.uint8Array({ maxLength: 40 }),
  json: fc.jsonValue(),
  at: fc.integer({ min: 0, max: 86_399_999_999 }),
  number: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
});

type Row = typeof row extends fc.Arbitrary<infer Value> ? Value : never;

/** Stores the values in columns of every type of the schema, some of them in a partition. */
async function store(pool: Pool, each: Row, index: number): Promise<void> {
  const id = `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
  await pool.query(
    `insert into fleet_servers (id, name, address, labels, created_at) values ($1::uuid, $2, $1::uuid::text, $3, now())`,
    [id, each.text, each.texts],
  );
  await pool.query(
    `insert into events (event_id, received_at, install_id, session_id, name, occurred_at, app_version, props)
     values ($1::uuid, timestamptz '2026-11-28 00:00Z' + $2::bigint * interval '1 microsecond', $1::uuid, $1::uuid, $3, 'infinity', '1', $4)`,
    [id, each.at, each.text, JSON.stringify(each.json).replaceAll('\\u0000', '')],
  );
  await pool.query(
    `insert into suppressions (address_hash, reason, suppressed_at) values ($1, 'erased', '-infinity')`,
    [Buffer.concat([Buffer.from(id), each.bytes])],
  );
  await pool.query(
    `insert into event_drops (day, reason, events) values (date '2020-02-29' + $1::integer, $2, $3)`,
    [index, each.text, each.number.toString()],
  );
}

const PARTITION = `create table events_2026_11_28 partition of events
  for values from ('2026-11-28 00:00:00+00') to ('2026-11-29 00:00:00+00')`;

describe('on one server', { skip: spreadsTables }, async () => {
  const source = await openTestPool();
  const target = await openTestPool();
  await source.query(PARTITION);

  test('lists every table of the schema', async () => {
    const { rows } = await target.query<{ name: string }>(
      `select table_name as name from information_schema.tables where table_schema = 'public'`,
    );
    const names = rows.map(({ name }) => name).filter((name) => name !== 'schema_migrations');
    assert.deepEqual(TABLES, names.toSorted());
  });

  test('restores every row with any content', async () => {
    let count = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 4, maxLength: 12 }), async (rows) => {
        for (const each of rows) await store(source, each, (count += 1));
        const { path, rows: written } = await back(source);
        await empty(target);
        const restored = await restore(path, target);
        assert.equal(restored.rows, written);
        assert.deepEqual(await digestTables(target), await digestTables(source));
      }),
      { numRuns: 8 },
    );
    assert.ok(count >= 32);
  });

  test('continues generated numbers, protects the audit log, and has no pending migration', async () => {
    const job = `insert into jobs (name, payload, priority, max_attempts, run_at)
      values ('test', '{}', 1, 1, now()) returning id`;
    const last = (await source.query<{ id: number }>(job)).rows[0];
    const { path } = await back(source);
    await empty(target);
    assert.deepEqual((await restore(path, target)).migrations, []);
    const next = (await target.query<{ id: number }>(job)).rows[0];
    assert.equal(next?.id, Number(last?.id) + 1);
    await assert.rejects(target.query('delete from audit_log'), /append-only/u);
    await assert.rejects(target.query('delete from audit_head'), /append-only/u);
  });

  test('contains the rows of one moment, while others are stored', async () => {
    let reported = 0;
    const before = await digestTables(source);
    const { path } = await back(source, newPath(), () => {
      if ((reported += 1) === 1) void store(source, sample(), 900_000);
    });
    await empty(target);
    await restore(path, target);
    assert.deepEqual(await digestTables(target), before);
    assert.notDeepEqual(await digestTables(source), before);
  });

  test('contains the rows of a table that is rewritten while the backup waits for its lock', async () => {
    await source.query(
      `insert into suppressions (address_hash, reason, suppressed_at) values ('rewritten', 'erased', now())`,
    );
    const client = await source.connect();
    let backup;
    try {
      await client.query(
        `begin; alter table suppressions alter column reason type text using reason || ''`,
      );
      backup = back(source);
      await Promise.race([backup, untilLockIsAwaited('suppressions')]);
      await client.query('commit');
    } finally {
      client.release(true);
    }
    const { path } = await backup;
    await empty(target);
    await restore(path, target);
    assert.deepEqual(await digestTables(target), await digestTables(source));
  });

  async function untilLockIsAwaited(table: string): Promise<void> {
    const waiting = 'select from pg_locks where relation = $1::regclass and not granted';
    while ((await source.query(waiting, [table])).rowCount === 0) await sleep(20);
  }

  test('restores a backup of an older schema and migrates it', async () => {
    const { path } = await back(source);
    const migrations = await mkdtemp(join(directory, 'migrations-'));
    await cp(new URL('../migrations/', import.meta.url), migrations, { recursive: true });
    await writeFile(join(migrations, '9999_more.sql'), 'alter table jobs add column note text');
    await empty(target);
    const restored = await restore(path, target, pathToFileURL(`${migrations}/`));
    assert.deepEqual(restored.migrations, ['9999_more']);
    assert.equal((await target.query('select note from jobs')).rowCount, 1);
  });

  test('refuses a database that is not empty, and changes nothing in it', async () => {
    const { path } = await back(source);
    const before = await digestTables(source);
    await assert.rejects(restore(path, source), isBackupError(/^The database is not empty, /u));
    assert.deepEqual(await digestTables(source), before);
  });

  test('names a full disk also when PostgreSQL ends because of it', async () => {
    const [from, to] = [await openTestPool(), await openTestPool()];
    const { path } = await back(from);
    await empty(to);
    const attempt = async (freeMib: number): Promise<Restored> => {
      await using backup = await openBackup(path);
      return await restoreBackup(backup, {
        pool: to,
        report: silent,
        readFreeMib: async () => freeMib,
        beforeCommit: async (client) =>
          void (await client.query('select pg_terminate_backend(pg_backend_pid())')),
      });
    };
    await assert.rejects(attempt(15), isBackupError(/^The disk of the database is full/));
    await assert.rejects(attempt(100), { code: '57P01' });
  });

  test('refuses an empty database, and a file that exists', async () => {
    await empty(target);
    const path = newPath();
    await assert.rejects(back(target, path), isBackupError(/^The database is empty/u));
    await writeFile(path, 'precious');
    await assert.rejects(back(source, path), isBackupError(/ already exists: /u));
    assert.equal(await readFile(path, 'utf8'), 'precious');
    await assert.rejects(
      back(source, join(directory, 'none', 'a.zst')),
      isBackupError(/directory does not exist/u),
    );
    const names = await readdir(directory);
    assert.deepEqual(
      names.filter((name) => name.endsWith('.partial')),
      [],
    );
  });

  test('creates a file that only its owner can read', async () => {
    const { path, bytes } = await back(source);
    const { mode, size } = await stat(path);
    assert.deepEqual([mode & 0o777, size], [0o600, bytes]);
  });

  test('rolls a damaged backup back, whatever byte was altered or cut off', async () => {
    const { path } = await back(source);
    const bytes = await readFile(path);
    const lines = zstdDecompressSync(bytes);
    await empty(target);
    const damaged = newPath();
    const examine = async (content: Buffer): Promise<void> => {
      await writeFile(damaged, content);
      await assert.rejects(verifyBackup(damaged, silent), BackupError);
      await assert.rejects(restore(damaged, target));
      const { rows } = await target.query('select from pg_tables where schemaname = $1', [
        'public',
      ]);
      assert.equal(rows.length, 0);
    };
    const position = fc.nat({ max: lines.length - 1 });
    await fc.assert(
      fc.asyncProperty(position, fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const altered = Buffer.from(lines);
        altered[at] = (altered[at] ?? 0) ^ change;
        await examine(zstdCompressSync(altered));
        const compressed = Buffer.from(bytes);
        compressed[at % bytes.length] = (bytes[at % bytes.length] ?? 0) ^ change;
        // Zstandard ignores some bits.
        if (!isSame(compressed, lines)) await examine(compressed);
        await examine(bytes.subarray(0, at % bytes.length));
      }),
      { numRuns: 8 },
    );
    await truncate(damaged, 0);
    await assert.rejects(openBackup(damaged), isBackupError(/is damaged/u));
  });

  test('refuses a schema and a format that this version does not know', async () => {
    const { header, path } = await back(source);
    const known = await listKnownMigrations();
    requireKnownSchema(header, known);
    const newer = { name: '0099_newer', checksum: 'f'.repeat(64) };
    assert.throws(
      () => requireKnownSchema({ ...header, migrations: [...header.migrations, newer] }, known),
      isBackupError(/whose migration 0099_newer this version does not know: restore it with/u),
    );
    const later = zstdDecompressSync(await readFile(path))
      .toString()
      .replace('"format":1', '"format":2');
    const other = newPath();
    await writeFile(other, zstdCompressSync(Buffer.from(later)));
    await assert.rejects(openBackup(other), isBackupError(/has format 2, /u));
    await assert.rejects(openBackup(newPath()), isBackupError(/^There is no file /u));
  });
});

function isSame(compressed: Buffer, lines: Buffer): boolean {
  try {
    return zstdDecompressSync(compressed).equals(lines);
  } catch {
    return false;
  }
}

function sample(): Row {
  const [first] = fc.sample(row, 1);
  assert.ok(first);
  return first;
}
