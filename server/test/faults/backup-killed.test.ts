import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { eventually } from '../eventually.ts';
import { inheritedVariables } from '../inherited-variables.ts';
import { digestTables } from '../table-digests.ts';
import { spreadsTables } from '../test-cluster.ts';
import { openCommandLine } from '../test-command-line.ts';

const program = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const preload = new URL('./kill-at.mjs', import.meta.url).href;

type CommandLine = Awaited<ReturnType<typeof openCommandLine>>;

/** Runs a command in a process of its own, and kills it at a step. */
async function killAt({ directory, settings }: CommandLine, step: string, ...args: string[]) {
  const child = spawn(process.execPath, ['--import', preload, program, ...args], {
    cwd: directory,
    env: { ...inheritedVariables(), ...settings, KILL_AT: step },
    stdio: 'ignore',
  });
  const [, signal] = await once(child, 'exit');
  assert.equal(signal, 'SIGKILL');
}

describe('backup and restore', { skip: spreadsTables }, async () => {
  const source = await openCommandLine();
  const target = await openCommandLine();
  await source.runJson('license', 'issue', '--product', 'personal');
  const list = () =>
    readdir(source.directory).then((names) => names.filter((name) => name.includes('.zst')));

  for (const step of ['before the tables are locked', 'before the commit', 'before the link']) {
    test(`a backup that is killed ${step} leaves no file of that name, and the next one succeeds`, async () => {
      await killAt(source, step, 'backup', 'a.zst');
      assert.match((await list()).join(' '), /^\.a\.zst\.\d+\.partial$/u);
      const written = await source.run('backup', 'a.zst');
      assert.equal(written.code, 0, written.stderr);
      assert.deepEqual(await list(), ['a.zst']);
      await rm(join(source.directory, 'a.zst'));
    });
  }

  test('a backup that is killed after it got its name is complete', async () => {
    await killAt(source, 'after the link', 'backup', 'b.zst');
    const verified = await source.run('restore', 'b.zst', '--dry-run');
    assert.equal(verified.code, 0, verified.stderr);
    assert.match(verified.stdout, /^b\.zst is complete: /u);
  });

  for (const step of ['while tables are restored', 'before the commit']) {
    test(`a restore that is killed ${step} leaves an empty database, and the next one succeeds`, async () => {
      const { pool } = target;
      await pool.query('drop schema public cascade; create schema public');
      const path = join(source.directory, 'b.zst');
      await killAt(target, step, 'restore', path);
      await eventually(async () => {
        const { rowCount } = await pool.query(
          `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
        );
        return rowCount === 0;
      });
      const { rows } = await pool.query(`select from pg_tables where schemaname = 'public'`);
      assert.equal(rows.length, 0);
      const restored = await target.run('restore', path);
      assert.equal(restored.code, 0, restored.stderr);
      const [before, after] = [await digestTables(source.pool), await digestTables(pool)];
      assert.equal(after['licenses'], before['licenses']);
      assert.match(after['licenses'] ?? '', /^1 /u);
    });
  }
});
