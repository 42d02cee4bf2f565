import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Command } from 'commander';

import { listNewestEntries } from '#server/features/audit/list-entries.ts';
import { insertAuditEntry } from '#server/features/audit/queries.ts';
import { toAddress } from '#server/features/customers/find-person.ts';
import { createVault } from '#server/lib/vault.ts';

import { emptyAuditLog, tamper } from '../../test/audit-log.ts';
import { runLatchkey } from '../../test/command-line.ts';
import { COMMAND_LINE_SECRET, openCommandLine } from '../../test/test-command-line.ts';
import { buildProgram } from './program.ts';

const { directory, databaseUrl, pool, run, runJson } = await openCommandLine();

const { license_id: licenseId, license_key: licenseKey } = await runJson(
  'license',
  'issue',
  '--product',
  'personal',
);
const INSTALL = '6f1c2b9e-3a7d-4c55-9e0b-0d3f1a2b4c5d';

const ADDRESS = 'Ada@example.com';
const vault = createVault(COMMAND_LINE_SECRET);

/** Every command that shows keys, or addresses in bulk: its arguments, and the action and subject of its audit row. */
const accesses: readonly (readonly [string, string, string])[] = [
  [`license show ${licenseId} --reveal`, 'license.reveal', licenseId],
  ['export licenses --reveal', 'license.export', 'licenses'],
  ['export activations', 'activation.export', 'activations'],
  ['export trials', 'trial.export', 'trials'],
  ['license list', 'license.list', 'licenses'],
  ['subscriber list', 'subscriber.list', 'subscribers'],
  ['subscriber export', 'subscriber.export', 'subscribers'],
  [`install export ${INSTALL}`, 'install.export', INSTALL],
  [`customer show ${ADDRESS}`, 'customer.show', toAddress(vault, ADDRESS).id],
  [`customer export ${ADDRESS}`, 'customer.export', toAddress(vault, ADDRESS).id],
];

async function listRows() {
  const { rows } = await pool.query(
    'select action, subject_id, actor, reason, details from audit_log order by occurred_at, id',
  );
  return rows;
}

for (const [line, action, subject] of accesses) {
  test(`records \`${line.replace(licenseId, '<license>')}\``, async () => {
    await emptyAuditLog(pool);
    const { code, stderr } = await run(...line.split(' '));
    assert.equal(code, 0, stderr);
    const rows = await listRows();
    assert.deepEqual(
      rows.map((row) => [row.action, row.subject_id]),
      [[action, subject]],
    );
  });
}

test('records the caller of sudo, the reason and whether keys were revealed', async () => {
  await emptyAuditLog(pool);
  const settings = {
    DATABASE_URL: databaseUrl,
    LATCHKEY_SECRET: COMMAND_LINE_SECRET,
    SUDO_USER: 'anna',
  };
  const args = ['export', 'licenses', '--reveal', '--output', 'all.csv'];
  const reason = ['--reason', `${licenseKey} of ann@example.com is lost`];
  const { code, stderr } = await runLatchkey([...args, ...reason], { directory, settings });
  assert.equal(code, 0, stderr);
  assert.match(readFileSync(join(directory, 'all.csv'), 'utf8'), new RegExp(licenseKey, 'u'));
  const [row] = await listRows();
  assert.match(row.actor, /^cli:\S+ sudo:anna\b/u);
  assert.deepEqual(row.details, { format: 'csv', reveal: true });
  assert.equal(row.reason, '[license key] of [e-mail] is lost');
});

test('shows nothing if the audit entry cannot be written', async () => {
  await pool.query('alter table audit_log add constraint closed check (false) not valid');
  try {
    for (const [line] of accesses.slice(0, 2)) {
      const { code, stdout } = await run(...line.split(' '));
      assert.deepEqual([code, stdout], [1, ''], line);
    }
  } finally {
    await pool.query('alter table audit_log drop constraint closed');
  }
});

test('tests the audit entry of every export and every command with --reveal', async () => {
  const listLeaves = (command: Command): Command[] =>
    command.commands.length === 0 ? [command] : command.commands.flatMap(listLeaves);
  const revealing = listLeaves(await buildProgram())
    .filter(
      (leaf) => leaf.name() === 'export' || leaf.options.some(({ long }) => long === '--reveal'),
    )
    .map((leaf) => (leaf.parent?.parent ? `${leaf.parent.name()} ${leaf.name()}` : leaf.name()));
  assert.ok(revealing.length >= 4);
  assert.deepEqual(
    revealing.filter(
      (name) => !accesses.some(([line]) => line.startsWith(`${name} `) || line === name),
    ),
    [],
  );
});

const at = (minute: number) => new Date(Date.UTC(2026, 10, 20, 10, minute));

async function fill(): Promise<void> {
  await emptyAuditLog(pool);
  const entries = [
    ['cli:root sudo:anna', 'license.reveal', 'a'],
    ['cli:anna', 'license.suspend', 'b'],
    ['cli:root login:bob', 'licenses.other', 'a'],
    ['latchkey', 'webhook.reconcile', 'webhooks'],
  ] as const;
  for (const [minute, [actor, action, subjectId]] of entries.entries()) {
    await insertAuditEntry(pool, {
      occurredAt: at(minute),
      actor,
      action,
      subjectId,
      reason: 'x'.repeat(300),
      details: {},
    });
  }
}

/** Returns the minutes of the entries that match a filter. */
async function listMinutes(filters: Parameters<typeof listNewestEntries>[1]): Promise<number[]> {
  const page = await listNewestEntries({ pool }, filters, null, 10);
  return (page?.rows ?? []).map(({ occurredAt }) => occurredAt.getUTCMinutes());
}

test('filters the audit log by time, actor, action and subject, newest first', async () => {
  await fill();
  assert.deepEqual(await listMinutes({}), [3, 2, 1, 0]);
  assert.deepEqual(
    await listMinutes({ since: at(1).toISOString(), until: at(3).toISOString() }),
    [2, 1],
  );
  assert.deepEqual(await listMinutes({ actor: 'anna' }), [1, 0]);
  assert.deepEqual(await listMinutes({ actor: 'sudo:anna' }), [0]);
  assert.deepEqual(await listMinutes({ actor: 'ann' }), []);
  assert.deepEqual(await listMinutes({ actor: 'latchkey' }), [3]);
  assert.deepEqual(await listMinutes({ action: 'license' }), [1, 0]);
  assert.deepEqual(await listMinutes({ action: 'license.reveal' }), [0]);
  assert.deepEqual(await listMinutes({ subject_id: 'a' }), [2, 0]);
});

test('pages through entries of the same time without gaps or duplicates', async () => {
  await fill();
  await tamper(pool, 'update audit_log set occurred_at = now()');
  const ids: string[] = [];
  for (let cursor: string[] = []; ;) {
    const page = await runJson('audit', 'list', '--limit', '3', ...cursor);
    ids.push(...page.entries.map(({ id }: { id: string }) => id));
    if (page.next_cursor === null) break;
    cursor = ['--cursor', page.next_cursor];
  }
  const { rows } = await pool.query(
    'select id from audit_log order by occurred_at desc, sequence desc',
  );
  assert.deepEqual(
    ids,
    rows.map(({ id }) => id),
  );
});

test('prints the audit log as a table, and the cursor of the next page', async () => {
  await fill();
  const { code, stdout, stderr } = await run(
    'audit',
    'list',
    '--since',
    '2026-11-20',
    '--limit',
    '2',
  );
  assert.equal(code, 0, stderr);
  const lines = stdout.trimEnd().split('\n');
  assert.match(lines[0] ?? '', /^SEQUENCE +TIME +ACTOR +ACTION +SUBJECT +REASON$/u);
  assert.match(
    lines[1] ?? '',
    /^4 +2026-11-20 10:03 UTC  latchkey +webhook\.reconcile +webhooks +x+$/u,
  );
  assert.equal(lines.length, 3);
  assert.match(stderr, /--cursor [0-9a-f-]{36}$/mu);
});

test('finds the entries of a license by its key, and rejects an unknown cursor', async () => {
  await run('license', 'suspend', licenseId, '--reason', 'a test');
  const { entries } = await runJson('audit', 'list', '--license', licenseKey);
  assert.deepEqual(
    entries.map((entry: Record<string, unknown>) => [entry['action'], entry['subject_id']]),
    [['license.suspend', licenseId]],
  );
  const unknown = await run('audit', 'list', '--cursor', INSTALL);
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /no entry 6f1c2b9e/u);
});
