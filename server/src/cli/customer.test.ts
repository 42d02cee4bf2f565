import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { openCommandLine } from '../../test/test-command-line.ts';

const { directory, pool, run, runJson } = await openCommandLine();
const ADDRESS = 'Ada@example.com';
const REASON = ['--reason', 'request of 3 May'];

const order = ['--product', 'personal', '--email', ADDRESS, '--name', 'Ada Lovelace'];
const { license_id: licenseId } = await runJson('license', 'issue', ...order);

async function findLicense() {
  const sql = 'select customer_email, customer_name, revoked_at from licenses where id = $1';
  return (await pool.query(sql, [licenseId])).rows[0];
}

/** Activates the license in an install of a day that is in an archive. */
async function archiveInstall(): Promise<void> {
  await pool.query(
    `insert into activations (license_id, id, components, machine_digest, install_id, versions_reported_at, activated_at,
                              last_validated_at)
     values ($1, gen_random_uuid(), '{}', '', gen_random_uuid(), now(), now(), now())`,
    [licenseId],
  );
  await pool.query(
    `insert into event_archives (day, location, events, checksum, archived_at)
     values ('2026-01-01', '/archive', 1, '1', now())`,
  );
}

test('shows the data of an address in any case, and exports it to a file of its owner', async () => {
  const shown = await run('customer', 'show', 'ADA@example.COM');
  assert.equal(shown.code, 0, shown.stderr);
  assert.match(shown.stdout, /^licenses \(1\)$/mu);
  assert.match(shown.stdout, /^customer_name +Ada Lovelace$/mu);
  const unknown = await runJson('customer', 'show', 'nobody@example.com');
  assert.deepEqual(Object.keys(unknown), [
    'address',
    'id',
    'install_ids',
    'shared_installs',
    'shared_machines',
  ]);

  const output = join(directory, 'ada.json');
  const exported = await run('customer', 'export', ADDRESS, '--output', output);
  assert.equal(exported.code, 0, exported.stderr);
  const { licenses } = JSON.parse(readFileSync(output, 'utf8'));
  assert.deepEqual(
    licenses.map((license: Record<string, unknown>) => license['customer_email']),
    [ADDRESS],
  );
  assert.equal(statSync(output).mode & 0o777, 0o600);
});

test('plans an erasure without --yes, and keeps the license with it', async () => {
  const planned = await runJson('customer', 'erase', ADDRESS, ...REASON);
  assert.equal(planned.dry_run, true);
  assert.deepEqual(
    planned.tables.map(({ table, rows }: { table: string; rows: number }) => [table, rows])[0],
    ['licenses', 1],
  );
  assert.equal((await findLicense()).customer_email, ADDRESS);

  await archiveInstall();
  const erased = await run('customer', 'erase', ADDRESS, ...REASON, '--yes', '--json');
  assert.match(erased.stderr, /^Archived events are not erased\..+\n {2}\/archive: 1 day, /u);
  const { dry_run: dryRun, archives, ...result } = JSON.parse(erased.stdout);
  assert.deepEqual(
    [dryRun, result.licenses, result.removed_bodies, result.kept_bodies, archives.length],
    [false, 1, 0, 0, 1],
  );
  assert.deepEqual(await findLicense(), {
    customer_email: null,
    customer_name: null,
    revoked_at: null,
  });
  const { entries } = await runJson('audit', 'list', '--license', licenseId);
  assert.equal(entries[0].action, 'customer.erase');
});

test('names shared installs, and includes their data on request', async () => {
  const email = 'shared@example.com';
  const installId = '0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d';
  for (const each of [email, 'other@example.com']) {
    const { license_id: id } = await runJson(
      'license',
      'issue',
      '--product',
      'personal',
      '--email',
      each,
    );
    await pool.query(
      `insert into activations (license_id, id, components, machine_digest, install_id, versions_reported_at, activated_at,
                                last_validated_at)
       values ($1, gen_random_uuid(), '{}', '', $2, now(), now(), now())`,
      [id, installId],
    );
  }
  const note = new RegExp(`--include-shared:\n *install ${installId} \\(1 other license\\)`, 'u');
  const planned = await run('customer', 'erase', email, ...REASON);
  assert.match(planned.stdout, /^shared_installs +1 +events kept/mu);
  assert.match(planned.stderr, note);
  const leftOut = async (...more: string[]) => {
    const output = join(directory, `shared-${more.at(-1) ?? 'none'}.json`);
    const { code, stderr } = await run('customer', 'export', email, '--output', output, ...more);
    assert.equal(code, 0, stderr);
    assert.match(stderr, note);
    return JSON.parse(readFileSync(output, 'utf8')).left_out.installs;
  };
  assert.deepEqual(await leftOut(), [installId]);
  assert.deepEqual(await leftOut('--include-shared', installId), []);
  assert.deepEqual(await leftOut('--include-shared', 'all'), []);
  const erased = await run('customer', 'erase', email, ...REASON, '--yes');
  assert.match(erased.stdout, /Kept the data of 1 shared install and 0 shared machines\./u);
});

test('requires a reason for an erasure', async () => {
  assert.equal((await run('customer', 'erase', ADDRESS, '--yes')).code, 2);
});
