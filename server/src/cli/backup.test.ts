import assert from 'node:assert/strict';
import { copyFile, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, test } from 'node:test';
import { zstdDecompressSync } from 'node:zlib';

import { runLatchkey } from '../../test/command-line.ts';
import { eventually } from '../../test/eventually.ts';
import { spreadsTables } from '../../test/test-cluster.ts';
import { COMMAND_LINE_SECRET, openCommandLine } from '../../test/test-command-line.ts';

describe('backup and restore', { skip: spreadsTables }, async () => {
  const { directory, pool, run, runJson, settings } = await openCommandLine();
  const { license_id: id, license_key: key } = await runJson(
    'license',
    'issue',
    '--product',
    'personal',
  );

  test('writes a file without the master secret, and reports where the secret is', async () => {
    const { code, stdout, stderr } = await run('backup', 'one.zst', '--reason', 'nightly');
    assert.equal(code, 0, stderr);
    assert.match(
      stdout,
      /^Wrote one\.zst: \d+ tables, \d+ rows, [\d.]+ KiB; read back and verified\.\n$/u,
    );
    assert.match(
      stderr,
      /^The master secret is not in this file\. Keep a copy of the setting LATCHKEY_SECRET in another place: without it \(id [0-9a-f]{6}\), /u,
    );
    const content = zstdDecompressSync(await readFile(join(directory, 'one.zst'))).toString();
    assert.ok(content.includes(id));
    for (const secret of [COMMAND_LINE_SECRET, key]) assert.equal(content.includes(secret), false);
    const { rows } = await pool.query(
      `select action, reason from audit_log where action like 'database.%' order by sequence`,
    );
    assert.deepEqual(rows, [
      { action: 'database.backup', reason: 'nightly' },
      { action: 'database.verify_backup', reason: 'nightly' },
    ]);
  });

  test('reports a file that exists, a directory that does not, and another master secret', async () => {
    const repeated = await run('backup', 'one.zst');
    assert.deepEqual(
      [repeated.code, repeated.stderr],
      [1, 'latchkey: one.zst already exists: name a new file, or remove this one first.\n'],
    );
    const nowhere = await run('backup', 'nowhere/one.zst');
    assert.equal(
      nowhere.stderr,
      'latchkey: nowhere/one.zst cannot be written (its directory does not exist).\n',
    );
    const other = {
      ...settings,
      LATCHKEY_SECRET: 'another-secret-for-the-tests-of-the-command-line',
    };
    const foreign = await runLatchkey(['backup', 'two.zst'], { directory, settings: other });
    assert.equal(foreign.code, 78);
    assert.match(
      foreign.stderr,
      /master secret is not the one that this database was created with/u,
    );
  });

  test('restores into a data directory and from there into a database, under the same secret', async () => {
    const data = await mkdtemp(join(directory, 'data-'));
    const embedded = { LATCHKEY_DATA_DIR: data };
    const on = (...args: string[]) => runLatchkey(args, { directory, settings: embedded });
    const missing = await on('restore', 'one.zst');
    assert.match(
      missing.stderr,
      /master secret of the backup \(id [0-9a-f]{6}\) is missing: copy it to /u,
    );
    await writeFile(join(data, 'secret'), 'another-secret-for-the-tests-of-the-command-line');
    const wrong = await on('restore', 'one.zst');
    assert.match(wrong.stderr, /^latchkey: The backup was written under the master secret /u);
    assert.deepEqual([missing.code, wrong.code], [1, 1]);

    await writeFile(join(data, 'secret'), COMMAND_LINE_SECRET, { mode: 0o600 });
    const restored = await on('restore', 'one.zst', '--reason', 'moved');
    assert.equal(restored.code, 0, restored.stderr);
    assert.match(
      restored.stdout,
      /^Restored the backup of 2.+: \d+ tables, \d+ rows\. Run latchkey doctor/u,
    );
    const again = await on('restore', 'one.zst');
    assert.match(again.stderr, /^latchkey: The database is not empty, /u);
    const shown = await on('license', 'show', key, '--json');
    assert.equal(JSON.parse(shown.stdout).license_id, id, shown.stderr);
    const note = await on('backup', 'three.zst', '--json');
    assert.deepEqual(JSON.parse(note.stdout).secret_places, [join(data, 'secret')]);

    await pool.query('drop schema public cascade; create schema public');
    const { code, stderr } = await run('restore', 'three.zst');
    assert.equal(code, 0, stderr);
    assert.equal((await runJson('license', 'show', key)).license_id, id);
    assert.equal((await run('audit', 'verify')).code, 0);
    const { rows } = await pool.query(
      `select reason from audit_log where action = 'database.restore' order by sequence`,
    );
    assert.deepEqual(rows, [{ reason: 'moved' }, { reason: null }]);
  });

  test('verifies a backup and restores nothing with --dry-run', async () => {
    const verified = await run('restore', 'three.zst', '--dry-run', '--json');
    assert.equal(verified.code, 0, verified.stderr);
    assert.equal(JSON.parse(verified.stdout).restored, false);
    const bytes = await readFile(join(directory, 'three.zst'));
    await writeFile(join(directory, 'cut.zst'), bytes.subarray(0, bytes.length - 40));
    const cut = await run('restore', 'cut.zst', '--dry-run');
    assert.equal(cut.code, 1);
    assert.match(cut.stderr, /^latchkey: cut\.zst is damaged \(.+\): use another backup\.\n$/u);
    const none = await run('restore', 'none.zst', '--dry-run');
    assert.equal(none.stderr, 'latchkey: There is no file none.zst.\n');
    await writeFile(join(directory, 'text.zst'), 'a shopping list');
    const text = await run('restore', 'text.zst', '--dry-run');
    assert.equal(text.stderr, 'latchkey: text.zst is no backup of Latchkey.\n');
  });

  test('writes a named file into a directory, and keeps the newest backups there', async () => {
    const nightly = await mkdtemp(join(directory, 'nightly-'));
    await writeFile(join(nightly, 'before-upgrade.zst'), 'of somebody else');
    const written: string[] = [];
    for (const keep of ['2', '2', '1']) {
      // Names have seconds.
      await eventually(async () => {
        const { code, stdout, stderr } = await run('backup', nightly, '--keep', keep, '--json');
        if (code === 1 && stderr.includes('already exists')) return false;
        assert.equal(code, 0, stderr);
        written.push(basename(JSON.parse(stdout).file));
        return true;
      });
    }
    assert.match(written[0] ?? '', /^latchkey-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.zst$/u);
    assert.deepEqual(await readdir(nightly), ['before-upgrade.zst', written[2]]);
    const verified = await run('restore', join(nightly, written[2] ?? ''), '--dry-run');
    assert.equal(verified.code, 0, verified.stderr);
  });

  test('keeps old backups when the new one fails, and needs a directory to keep some', async () => {
    const nightly = await mkdtemp(join(directory, 'nightly-'));
    const kept = 'latchkey-2026-11-01T03-00-00Z.zst';
    await copyFile(join(directory, 'three.zst'), join(nightly, kept));
    const other = { ...settings, LATCHKEY_SECRET: 'another-secret-for-the-command-line' };
    const args = ['backup', nightly, '--keep', '1'];
    const wrong = await runLatchkey(args, { directory, settings: other });
    assert.equal(wrong.code, 78);
    assert.deepEqual(await readdir(nightly), [kept]);
    const file = await run('backup', 'four.zst', '--keep', '3');
    assert.deepEqual(
      [file.code, file.stderr],
      [2, 'latchkey: --keep needs an existing directory, and four.zst is not one.\n'],
    );
    const none = await run('backup', nightly, '--keep', '0');
    assert.match(none.stderr, /Expected a whole number from 1 to 10000/u);
  });
});
