import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';

import { openCommandLine } from '../../test/test-command-line.ts';

const { directory, pool, ...commands } = await openCommandLine();
const run = (...args: string[]) => commands.run('fleet', ...args);
const runJson = (...args: string[]) => commands.runJson('fleet', ...args);

beforeEach(() => pool.query('delete from fleet_servers'));

interface Listed {
  readonly name: string;
  readonly address: string;
  readonly labels: readonly string[];
}

const list = async () =>
  (await runJson('list')).map(({ name, address, labels }: Listed) => [name, address, labels]);

test('adds, edits, lists and removes a server', async () => {
  const { id, ...added } = await runJson('add', 'WEB-1.example.com:4096', '--reason', 'new');
  const { created_at: createdAt, ...shown } = added;
  const address = 'web-1.example.com';
  assert.deepEqual(shown, { name: address, address, labels: [], version: 1 });
  assert.ok(Date.parse(createdAt) > 0);
  const edited = await run('edit', address, '--name', 'Web 1', '--labels', 'web, berlin');
  assert.equal(edited.code, 0, edited.stderr);
  assert.match(edited.stdout, /^labels +web, berlin$/mu);
  const table = await run('list');
  assert.match(table.stdout, new RegExp(`^${id}  Web 1 +web-1.example.com +web, berlin$`, 'mu'));
  await runJson('edit', id, '--address', '10.0.0.7:4100', '--labels', '');
  assert.deepEqual(await list(), [['Web 1', '10.0.0.7:4100', []]]);
  const removed = await run('remove', '10.0.0.7:4100', '--reason', 'gone');
  assert.deepEqual([removed.code, removed.stdout], [0, 'Removed Web 1 (10.0.0.7:4100).\n']);
  assert.deepEqual(await list(), []);
  const { rows } = await pool.query(
    `select action, reason, actor like 'cli:%' as by_command from audit_log where subject_id = $1 order by sequence`,
    [id],
  );
  assert.deepEqual(
    rows.map((row) => [row.action, row.reason, row.by_command]),
    [
      ['fleet_server.add', 'new', true],
      ['fleet_server.edit', null, true],
      ['fleet_server.edit', null, true],
      ['fleet_server.remove', 'gone', true],
    ],
  );
});

test('imports lines of a file or of standard input, all or none', async () => {
  const path = join(directory, 'servers.txt');
  await writeFile(path, '# ours\nweb-1 web-1.example.com web\nThe NAS\tnas\tstorage\n');
  assert.deepEqual(await runJson('import', path), { added: 2, changed: 0, unchanged: 0 });
  const input = 'web-1 web-1.example.com web\nnas nas\ndb db.example.com\n';
  const again = await commands.runWithInput(['fleet', 'import', '-'], input);
  assert.deepEqual([again.code, again.stdout], [0, 'Added 1 server, changed 1, unchanged 1.\n']);
  const before = await list();
  assert.deepEqual(before, [
    ['db', 'db.example.com', []],
    ['nas', 'nas', []],
    ['web-1', 'web-1.example.com', ['web']],
  ]);
  for (const [text, message] of [
    ['new new.example.com\n\nbad https://bad.example.com\n', /^line 3: .*scheme.*\.\n.*Nothing/u],
    ['the new new.example.com servers\n', /^line 1: .*tabs.*\.\n.*Nothing/u],
    ['a a.example\na A.EXAMPLE:4096\n', /^line 2: .*a\.example.*twice.*\n.*Nothing/u],
    ['# none\n', /no servers/u],
  ] as const) {
    const failed = await commands.runWithInput(['fleet', 'import', '-'], text);
    assert.deepEqual([failed.code, failed.stdout], [1, ''], text);
    assert.match(failed.stderr, message);
  }
  assert.deepEqual(await list(), before);
});

test('rejects invalid addresses (exit code 2), and unknown or listed servers (exit code 1)', async () => {
  await runJson('add', 'nas');
  for (const [args, code, message] of [
    [['add', 'https://nas'], 2, /scheme/],
    [['add', '[::1]:4096'], 2, /IPv6/],
    [['add', 'NAS:4096'], 1, /The address nas is listed already, as nas\./],
    [['add', 'web', '--labels', 'x'.repeat(41)], 1, /labels/],
    [['edit', 'nas'], 2, /--name, --address or --labels/],
    [['edit', 'web', '--name', 'x'], 1, /no such server/],
    [['remove', 'web'], 1, /no such server/],
    [['import', join(directory, 'none.txt')], 1, /does not exist/],
  ] as const) {
    const result = await run(...args);
    assert.deepEqual([result.code, result.stdout], [code, ''], args.join(' '));
    assert.match(result.stderr, message);
  }
  assert.equal((await list()).length, 1);
});
