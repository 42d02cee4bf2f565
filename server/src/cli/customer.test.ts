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

test('what is held about an address is shown in any spelling, and exported into a file of its owner', async () => {
  const shown = await run('customer', 'show', 'ADA@example.COM');
  assert.equal(shown.code, 0, shown.stderr);
  assert.match(shown.stdout, /^licenses \(1\)$/mu);
  assert.match(shown.stdout, /^customer_name +Ada Lovelace$/mu);
  const nobody = await run('customer', 'show', 'nobody@example.com');
  assert.match(nobody.stdout, /^Nothing is held about this address\.$/mu);

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

test('an erasure without --yes changes nothing and lists what goes; with it, the license stays', async () => {
  const planned = await run('customer', 'erase', ADDRESS, ...REASON);
  assert.equal(planned.code, 0, planned.stderr);
  assert.match(
    planned.stdout,
    /^licenses +1 +address, name and note removed; they go on working$/mu,
  );
  assert.match(planned.stdout, /^Nothing was changed\. /mu);
  assert.equal((await findLicense()).customer_email, ADDRESS);

  const result = await runJson('customer', 'erase', ADDRESS, ...REASON, '--yes');
  assert.deepEqual(
    [result.dry_run, result.licenses, result.removed_bodies, result.kept_bodies],
    [false, 1, 0, 0],
  );
  assert.deepEqual(await findLicense(), {
    customer_email: null,
    customer_name: null,
    revoked_at: null,
  });
  const { entries } = await runJson('audit', 'list', '--license', licenseId);
  assert.equal(entries[0].action, 'customer.erase');
});

test('an erasure asks for a reason', async () => {
  assert.equal((await run('customer', 'erase', ADDRESS, '--yes')).code, 2);
});
