import assert from 'node:assert/strict';
import { appendFile, cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { openTestPool } from '../../../test/database-pool.ts';
import { digestTables } from '../../../test/table-digests.ts';
import { spreadsTables } from '../../../test/test-cluster.ts';
import { BackupError } from './backup-error.ts';
import { copyDatabase } from './copy-database.ts';
import type { RestoreOptions } from './restore-backup.ts';

const silent = (): void => {};

/** Changes a row while it is stored, as a faulty disk or memory would. */
const FAULT = `
create function spoil() returns trigger language plpgsql as
  $$ begin if new.address_hash = '41' then new.suppressed_at = 'infinity'; end if; return new; end $$;
create trigger spoil before insert on suppressions for each row execute function spoil();`;

const failToAudit = async (): Promise<void> => {
  throw new Error('the audit log cannot be written');
};

describe('on one server', { skip: spreadsTables }, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-copy-'));
  after(() => rm(directory, { recursive: true }));
  const [source, target] = [await openTestPool(), await openTestPool()];
  await source.query(
    `insert into suppressions (address_hash, reason, suppressed_at)
     select number::text::bytea, 'erased', now() from generate_series(1, 20000) number`,
  );

  const copy = async (more: Partial<RestoreOptions> = {}) => {
    await target.query('drop schema public cascade; create schema public');
    const from = { pool: source, secretIds: ['0a1b2c'], version: '1.0.0', now: new Date() };
    const to = { pool: target, readFreeMib: async () => Infinity, beforeCommit: async () => {} };
    return await copyDatabase({ ...from, report: silent }, { ...to, ...more });
  };
  const assertEmpty = async () => {
    const tables = await target.query(`select from pg_tables where schemaname = 'public'`);
    assert.equal(tables.rowCount, 0);
  };

  test('copies every row to an empty database, without a file', async () => {
    const { rows } = await copy();
    assert.ok(rows >= 20_000);
    assert.deepEqual(await digestTables(target), await digestTables(source));
  });

  test('refuses rows that read back differently, and leaves the other database empty', async () => {
    await cp(new URL('../migrations/', import.meta.url), directory, { recursive: true });
    await appendFile(join(directory, '0001_schema.sql'), FAULT);
    await assert.rejects(copy({ directory: pathToFileURL(`${directory}/`) }), (error) => {
      assert.ok(error instanceof BackupError, String(error));
      assert.match(error.message, /^The rows of suppressions read back differ /u);
      return true;
    });
    await assertEmpty();
  });

  test('ends with the first error when either side fails, and leaves the other database empty', async () => {
    await assert.rejects(
      copy({ beforeCommit: failToAudit }),
      /^Error: the audit log cannot be written$/u,
    );
    await assertEmpty();
    await source.query('alter table suppressions rename to other_suppressions');
    await assert.rejects(copy(), /suppressions/u);
    await assertEmpty();
    await source.query('alter table other_suppressions rename to suppressions');
  });
});
