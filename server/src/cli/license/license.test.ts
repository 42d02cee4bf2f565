import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openCommandLine } from '../../../test/test-command-line.ts';

const { directory, pool, runWithInput: run } = await openCommandLine();

/** Runs a command that must succeed, and returns its JSON. */
async function runJson(args: readonly string[], input?: string) {
  const { code, stdout, stderr } = await run([...args, '--json'], input);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

const issue = (...options: string[]) =>
  runJson(['license', 'issue', '--product', 'personal', ...options]);

test('prints the key of an issued license once, with its terms and an activation request', async () => {
  const { code, stdout } = await run([
    'license',
    'issue',
    '--product',
    'personal',
    '--name',
    'Ann',
  ]);
  assert.equal(code, 0);
  const [key = ''] = stdout.split('\n');
  assert.match(key, /^LK(-[\dA-Z]{5}){5}$/u);
  assert.match(stdout, /^product +personal$/mu);
  assert.match(stdout, /^expires +never$/mu);
  assert.match(stdout, /^machines +at most 2$/mu);
  assert.match(
    stdout,
    new RegExp(`curl .*/api/v1/licenses/activate .*"license_key":"${key}"`, 'su'),
  );

  const shown = await run(['license', 'show', key]);
  assert.doesNotMatch(shown.stdout, new RegExp(key, 'u'));
  assert.match(shown.stdout, /^customer +Ann$/mu);
});

test('stores the options of an issued license, and issues several with --count', async () => {
  const one = await issue(
    '--email=Ann@EXAMPLE.com',
    '--max-activations=9',
    '--expires=2030-01-02',
    '--transaction=txn_1',
    '--note=press',
    '--reason=review copy',
  );
  const shown = await runJson(['license', 'show', one.license_id]);
  assert.equal(shown.customer_email, 'Ann@example.com');
  assert.equal(shown.max_activations, 9);
  assert.equal(shown.expires_at, '2030-01-02T00:00:00.000Z');
  assert.equal(shown.note, 'press');
  assert.deepEqual(
    shown.history.map(({ action, reason }: Record<string, string>) => [action, reason]),
    [['license.issue', 'review copy']],
  );
  const several = await issue('--count', '3');
  assert.equal(new Set(several.map((each: { license_key: string }) => each.license_key)).size, 3);
});

test('issues all licenses of --count or none', async () => {
  const read = async () =>
    (
      await pool.query(
        'select count(*) as licenses, max(sequence) as entries from licenses, audit_log',
      )
    ).rows[0];
  const { licenses, entries } = await read();
  // Refuses the audit row of the third license.
  await pool.query(`alter table audit_log add constraint two check (sequence <= ${entries} + 2)`);
  const failed = await run(['license', 'issue', '--product', 'personal', '--count', '3']);
  await pool.query('alter table audit_log drop constraint two');
  assert.deepEqual([failed.code, failed.stdout, await read()], [1, '', { licenses, entries }]);
});

test('reads a key from standard input, and shows it in full only with --reveal', async () => {
  const { license_key: key } = await issue();
  const hidden = await runJson(['license', 'show', '-'], `${key}\n`);
  assert.equal('license_key' in hidden, false);
  const revealed = await runJson(['license', 'show', '-', '--reveal'], `${key.toLowerCase()}\n`);
  assert.equal(revealed.license_key, key);
});

test('suspends, reinstates, revokes and extends a license, and records the reasons', async () => {
  const { license_id: id } = await issue('--days', '10');
  const change = async (verb: string, ...options: string[]) =>
    (await runJson(['license', verb, id, '--reason', `to ${verb}`, ...options])).status;
  assert.equal(await change('suspend'), 'suspended');
  assert.equal(await change('revoke'), 'revoked');
  assert.equal(await change('reinstate'), 'active');
  assert.equal(await change('extend', '--until', '2020-01-01'), 'expired');
  assert.equal(await change('extend', '--days', '2'), 'active');

  const { history, expires_at: expiresAt } = await runJson(['license', 'show', id]);
  assert.deepEqual(
    history.map(({ action, reason }: Record<string, string>) => `${action}: ${reason}`),
    [
      'license.issue: null',
      'license.suspend: to suspend',
      'license.revoke: to revoke',
      'license.reinstate: to reinstate',
      'license.extend: to extend',
      'license.extend: to extend',
    ],
  );
  assert.match(history[1].actor, /^cli:.+/u);
  const daysLeft = (Date.parse(expiresAt) - Date.now()) / 86_400_000;
  assert.ok(daysLeft > 1.9 && daysLeft <= 2, `${daysLeft} days`);
});

test('changes the limit, the customer and the note of a license, and records the reasons', async () => {
  const { license_id: id } = await issue('--email', 'ann@example.com', '--note', 'press');
  const reason = ['--reason', 'sold to Bob'];
  const limited = await runJson(['license', 'limit', id, '--max-activations', '9', ...reason]);
  assert.equal(limited.max_activations, 9);
  const owner = ['--email', 'Bob@EXAMPLE.com', '--name', 'Bob'];
  const sold = await runJson(['license', 'owner', id, ...owner, ...reason]);
  assert.deepEqual(
    [sold.customer_email, sold.customer_name, sold.note],
    ['Bob@example.com', 'Bob', 'press'],
  );
  await runJson(['license', 'owner', id, '--name', '', '--note', '', ...reason]);
  const { history, ...shown } = await runJson(['license', 'show', id]);
  assert.deepEqual(
    [shown.customer_email, shown.customer_name, shown.note],
    ['Bob@example.com', null, null],
  );
  assert.deepEqual(
    history.map((entry: Record<string, string>) => [entry['action'], entry['reason']]).slice(1),
    [
      ['license.change_limit', 'sold to Bob'],
      ['license.change_owner', 'sold to Bob'],
      ['license.change_owner', 'sold to Bob'],
    ],
  );
  for (const wrong of [
    ['limit', id, '--max-activations', '0', ...reason],
    ['limit', id, ...reason],
    ['owner', id, ...reason],
    ['owner', id, '--email', 'nobody', ...reason],
    ['owner', id, '--name', 'Ann'],
  ]) {
    assert.equal((await run(['license', ...wrong])).code, 2, wrong.join(' '));
  }
});

test('frees one machine of a license, once', async () => {
  const { license_id: id, license_key: key } = await issue();
  const activation = '0199a3c4-7b1e-7cc1-8d5e-2f6f0c1a9b3d';
  await pool.query(
    `insert into activations (license_id, id, components, machine_digest, versions_reported_at, activated_at, last_validated_at)
     values ($1, $2, '{"strong":[],"medium":[],"weak":[]}', 'digest', now(), now(), now())`,
    [id, activation],
  );
  const reason = ['--reason', 'laptop was stolen'];
  const free = ['license', 'free-machine', '-', activation.toUpperCase(), ...reason];
  assert.deepEqual(await runJson(free, `${key}\n`), {
    license_id: id,
    activation_id: activation,
    is_active: false,
  });
  assert.equal((await run(free, `${key}\n`)).code, 0, 'again');
  const { activations, history } = await runJson(['license', 'show', id]);
  assert.deepEqual([activations.length, activations[0].is_active], [1, false]);
  assert.deepEqual(
    history.map((entry: Record<string, string>) => [entry['action'], entry['reason']]).slice(1),
    [['license.free_machine', 'laptop was stolen']],
  );
  const unknown = await run(['license', 'free-machine', id, id, ...reason]);
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /^latchkey: .*activation/iu);
  assert.equal((await run(['license', 'free-machine', id, 'x', ...reason])).code, 2);
  assert.equal((await run(['license', 'free-machine', activation, activation, ...reason])).code, 1);
});

test('makes a license perpetual with --until never, which --days does not change', async () => {
  const { license_id: id } = await issue('--days', '10');
  const reason = ['--reason', 'bought for life'];
  const forever = await runJson(['license', 'extend', id, '--until', 'never', ...reason]);
  assert.equal(forever.expires_at, null);
  const longer = await run(['license', 'extend', id, '--days', '5', ...reason]);
  assert.equal(longer.code, 0);
  assert.match(longer.stderr, /--until/u);
  assert.equal((await runJson(['license', 'show', id])).expires_at, null);
});

test('changes the end of updates, and adds no days to all updates', async () => {
  const { license_id: id } = await issue('--updates-until', '2028-01-01');
  const reason = ['--reason', 'renewed by invoice'];
  const dated = await runJson(['license', 'show', id]);
  assert.equal(dated.updates_until, '2028-01-01T00:00:00.000Z');
  const longer = await runJson(['license', 'updates', id, '--days', '10', ...reason]);
  assert.equal(longer.updates_until, '2028-01-11T00:00:00.000Z');
  const all = await runJson(['license', 'updates', id, '--until', 'never', ...reason]);
  assert.equal(all.updates_until, null);
  const unchanged = await run(['license', 'updates', id, '--days', '5', ...reason]);
  assert.match(unchanged.stderr, /gets all updates/u);
  assert.equal((await run(['license', 'updates', id, ...reason])).code, 2);
});

test('limits the expiry to the year 9999', async () => {
  const { license_id: id } = await issue('--expires', '9999-12-31');
  const { expires_at: end } = await runJson([
    'license',
    'extend',
    id,
    '--days',
    '36500',
    '--reason',
    'for long',
  ]);
  assert.equal(end, '9999-12-31T23:59:59.999Z');
});

test('rejects an unknown license (exit code 1) and an unknown product (exit code 2)', async () => {
  const unknown = await run(['license', 'show', '0199a3c4-7b1e-7cc1-8d5e-2f6f0c1a9b3d']);
  assert.deepEqual([unknown.code, unknown.stdout], [1, '']);
  assert.match(unknown.stderr, /^latchkey: .*license.*\n$/u);

  const product = await run(['license', 'issue', '--product', 'none']);
  assert.equal(product.code, 2);
  assert.match(product.stderr, /^latchkey: .*"none".*\bpersonal\b/u);
});

/** Returns how many rows of an import had each outcome. */
function nonZero({ outcomes }: { readonly outcomes: Readonly<Record<string, number>> }) {
  return Object.fromEntries(Object.entries(outcomes).filter(([, rows]) => rows > 0));
}

test('imports new licenses, skips existing ones, and reports the line of each problem', async () => {
  const file = join(directory, 'keys.csv');
  writeFileSync(
    file,
    'license_key,customer_name,max_activations\r\nOLD-1,"Ann, Lee",3\r\nOLD-2,Bob,none\r\n550e8400-e29b-41d4-a716-446655440000,Cy,\r\nOLD-1,Again,\r\n',
  );
  const args = ['import', '--from', 'csv', file, '--product', 'personal', '--allow-weak-keys'];
  const dry = JSON.parse((await run([...args, '--dry-run', '--json'])).stdout);
  assert.deepEqual([dry.dry_run, nonZero(dry)], [true, { new: 2, duplicate: 1, bad: 1 }]);
  assert.equal((await run(['license', 'show', 'OLD-1'])).code, 1);

  const real = await run([...args, '--json']);
  const report = JSON.parse(real.stdout);
  assert.deepEqual([real.code, nonZero(report)], [1, { new: 2, duplicate: 1, bad: 1 }]);
  assert.deepEqual(
    report.problems.map(({ line }: { line: number }) => line),
    [3, 5],
  );
  const again = JSON.parse((await run([...args, '--json'])).stdout);
  assert.deepEqual(nonZero(again), { same: 2, duplicate: 1, bad: 1 });
  assert.equal((await runJson(['license', 'show', 'OLD-1'])).customer_name, 'Ann, Lee');
});

test('rejects keys that can be guessed without --allow-weak-keys', async () => {
  const file = join(directory, 'weak.csv');
  writeFileSync(file, 'license_key\nSHOP-20230001\n0f2k-9xq4-t7rb-8wzn-m3hp\nSHOP-20230002\n');
  const args = ['import', '--from', 'csv', file, '--product', 'personal'];
  for (const dryRun of [['--dry-run'], []]) {
    const { code, stdout } = await run([...args, ...dryRun, '--json']);
    const report = JSON.parse(stdout);
    assert.deepEqual([code, nonZero(report)], [1, { new: 1, weak: 2 }]);
    assert.deepEqual(
      report.problems.map(({ line }: { line: number }) => line),
      [2, 4],
    );
    assert.match(report.problems[0].problem, /--allow-weak-keys|guess/u);
  }
  assert.deepEqual(nonZero(await runJson([...args, '--allow-weak-keys'])), { new: 2, same: 1 });
  assert.deepEqual(nonZero(await runJson(args)), { same: 3 });
  assert.equal((await runJson(['license', 'show', 'SHOP-20230001'])).key_hint, '01');
});

test('replaces a key, and does not find the old one any more', async () => {
  const { license_key: oldKey, license_id: id } = await issue('--email', 'ann@example.com');
  const reason = ['--reason', 'key published'];
  const rekeyed = await runJson(['license', 'rekey', '-', ...reason], `${oldKey}\n`);
  assert.match(rekeyed.license_key, /^LK(-[\dA-Z]{5}){5}$/u);
  assert.notEqual(rekeyed.license_key, oldKey);
  assert.deepEqual(
    [rekeyed.license_id, rekeyed.machines_kept, rekeyed.machines_dropped, rekeyed.mail],
    [id, 0, 0, 'not_configured'],
  );
  assert.equal((await run(['license', 'show', oldKey])).code, 1);
  const { history } = await runJson(['license', 'show', rekeyed.license_key]);
  assert.equal(history.at(-1).action, 'license.rekey');

  const { stdout } = await run(['license', 'rekey', id, '--drop-machines', '--no-mail', ...reason]);
  assert.match(stdout, /^LK(-[\dA-Z]{5}){5}$/mu);
  assert.match(stdout, /^deactivated +0 /mu);
  assert.match(stdout, /^e-mail +not sent/mu);
  assert.equal((await run(['license', 'rekey', id])).code, 2, 'a reason is needed');
});

test('lists licenses of a customer page by page, without keys', async () => {
  const email = ['--email', 'list@example.com'];
  const made = [await issue(...email, '--days', '3'), await issue(...email), await issue(...email)];
  const first = await runJson(['license', 'list', ...email, '--limit', '2']);
  assert.deepEqual(
    first.licenses.map((license: { license_id: string }) => license.license_id),
    [made[2].license_id, made[1].license_id],
  );
  assert.equal(first.next_cursor, made[1].license_id);
  const rest = await runJson(['license', 'list', ...email, '--cursor', first.next_cursor]);
  assert.deepEqual([rest.licenses[0].license_id, rest.next_cursor], [made[0].license_id, null]);
  const expiring = await run(['license', 'list', ...email, '--expiring', '4']);
  assert.match(expiring.stdout, /^LICENSE +KEY +STATUS +EXPIRES +PRODUCT +CUSTOMER$/mu);
  assert.match(expiring.stdout, new RegExp(`^${made[0].license_id} +…\\w{4} +active `, 'mu'));
  assert.equal(expiring.stdout.trimEnd().split('\n').length, 2);
  for (const { license_key: key } of made) {
    assert.doesNotMatch(JSON.stringify([first, rest]) + expiring.stdout, new RegExp(key, 'u'));
  }
  for (const wrong of [
    ['--status', 'gone'],
    ['--expiring', '3', '--status', 'revoked'],
  ]) {
    assert.equal((await run(['license', 'list', ...wrong])).code, 2);
  }
});

test('exports licenses that can be imported again, with escaped formulas, to a file of its owner', async () => {
  await issue('--name', '=HYPERLINK("x")', '--note', 'a, b');
  const file = join(directory, 'licenses.csv');
  const { code, stdout } = await run(['export', 'licenses', '--reveal', '--output', file]);
  assert.deepEqual([code, stdout], [0, '']);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const lines = readFileSync(file, 'utf8').trimEnd().split('\r\n');
  assert.match(lines[0] ?? '', /^license_id,license_key,key_hint,product,/u);
  assert.match(lines.at(-1) ?? '', /,"'=HYPERLINK\(""x""\)","a, b",/u);

  const imported = await runJson(['import', '--from', 'csv', file, '--dry-run']);
  assert.deepEqual(nonZero(imported), { same: lines.length - 1 });
  const second = await run(['export', 'licenses', '--output', file]);
  assert.equal(second.code, 1);
  assert.match(second.stderr, /already exists/u);
});

test('exports a header or nothing without rows', async () => {
  const csv = await run(['export', 'trials']);
  assert.match(csv.stdout, /^[a-z_]+,[a-z_,]+\r\n$/u);
  assert.equal((await run(['export', 'trials', '--format', 'jsonl'])).stdout, '');
});

test('migrates once, and rotates signing keys', async () => {
  assert.deepEqual((await runJson(['migrate'])).applied, []);
  const old = await runJson(['signing-key', 'list']);
  assert.deepEqual(
    old.map((key: { state: string }) => key.state),
    ['signing'],
  );
  const made = await runJson(['signing-key', 'rotate', '--immediately', '--reason', 'test']);
  const now = await runJson(['signing-key', 'list']);
  assert.deepEqual(
    now.map(({ kid, state }: Record<string, string>) => [kid, state]),
    [
      [old[0].kid, 'retired'],
      [made.kid, 'signing'],
    ],
  );
});
