import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { Client } from 'pg';

import { runLatchkey } from '../../../test/command-line.ts';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';

const DAY_MS = 86_400_000;

let directory: string;
let databases: TestDatabase[];

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'latchkey-move-'));
  databases = await Promise.all([0, 1, 2].map(() => createTestDatabase()));
});

after(async () => {
  await Promise.all(databases.map((database) => database.drop()));
  await rm(directory, { recursive: true });
});

/** Runs a command on one of the databases, each with a master secret of its own. */
function runOn(index: number, args: readonly string[], input?: string) {
  return runLatchkey(args, {
    directory,
    settings: {
      DATABASE_URL: databases[index]?.url ?? '',
      LATCHKEY_SECRET: `the-master-secret-of-the-installation-${index}`,
    },
    ...(input === undefined ? {} : { input }),
  });
}

async function query(index: number, text: string): Promise<unknown[]> {
  const client = new Client(databases[index]?.url);
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/** Exports the licenses of a database, without the fields that an import sets. */
async function exportFrom(index: number): Promise<Record<string, unknown>[]> {
  const { stdout } = await runOn(index, ['export', 'licenses', '--reveal', '--format', 'jsonl']);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => ({ ...JSON.parse(line), license_id: null, created_at: null }));
}

const IMPORTS = `select reason, details ->> 'new' as created from audit_log where action = 'license.import_finished'
  order by sequence`;

test('keeps licenses unchanged through an export and an import elsewhere', async () => {
  const lapsed = new Date(Date.now() - 3 * DAY_MS).toISOString();
  const source = [
    { license_key: 'OLD-1', customer_name: '=Ann, "A"', max_activations: 7, note: 'moved' },
    { license_key: 'OLD-2', subscription: true, expires_at: lapsed, transaction_id: 'txn 1' },
    { license_key: 'OLD-3', expires_at: lapsed, transaction_id: 'txn 1' },
    { license_key: 'OLD-4', product: 'sellers', expires_at: '2100-01-01', subscription: false },
  ].map((record) => JSON.stringify(record));
  const importing = ['import', '--from', 'csv', '-', '--product', 'personal', '--allow-weak-keys'];
  const filled = await runOn(0, [...importing, '--json'], source.join('\n'));
  assert.equal(JSON.parse(filled.stdout).outcomes.new, 4, filled.stderr);
  const exported = await exportFrom(0);
  assert.deepEqual(
    exported.map(({ status, subscription, transaction_id: checkout }) => [
      status,
      subscription,
      checkout,
    ]),
    [
      ['active', false, null],
      ['past_due', true, 'txn 1'],
      ['expired', false, 'txn 1'],
      ['active', false, null],
    ],
  );

  for (const [index, format] of [
    [1, 'csv'],
    [2, 'jsonl'],
  ] as const) {
    const file = join(directory, `licenses.${format}`);
    await runOn(0, ['export', 'licenses', '--reveal', '--format', format, '--output', file]);
    const moved = await runOn(index, [
      'import',
      '--from',
      'csv',
      file,
      '--allow-weak-keys',
      '--json',
    ]);
    assert.equal(JSON.parse(moved.stdout).outcomes.new, 4, moved.stderr);
    assert.deepEqual(await exportFrom(index), exported, format);
    assert.deepEqual(await query(index, IMPORTS), [{ reason: `import of ${file}`, created: '4' }]);
  }
});

test('records the reason of an import, and keeps a revoked license revoked', async () => {
  const file = join(directory, 'revoked.csv');
  await writeFile(file, 'license_key,status\nOLD-8,revoked\nOLD-9,stolen\n');
  const reason = 'bought the other shop';
  const { code, stderr } = await runOn(1, [
    'import',
    '--from=csv',
    file,
    '--product=personal',
    '--allow-weak-keys',
    `--reason=${reason}`,
  ]);
  assert.deepEqual([code, /^row 3: bad: .*"stolen"/u.test(stderr)], [1, true]);
  const all = await query(1, IMPORTS);
  assert.deepEqual(all.at(-1), { reason, created: '1' });
  const exported = await exportFrom(1);
  assert.deepEqual(
    exported.filter(({ status }) => status === 'revoked').map((each) => each['license_key']),
    ['OLD-8'],
  );
});
