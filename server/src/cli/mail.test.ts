import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';

import { defaults } from '#server/config/config.ts';

import { emptyAuditLog } from '../../test/audit-log.ts';
import { runLatchkey } from '../../test/command-line.ts';
import { openCommandLine } from '../../test/test-command-line.ts';

const { directory, pool, run, runJson, settings: ofDatabase } = await openCommandLine();

const preview = (args: readonly string[], settings: Record<string, string> = {}) =>
  runLatchkey(['mail', 'preview', ...args], { directory, settings });

test('renders an outreach message with the catalogue, sender and public URL', async () => {
  const shipped = readFileSync(defaults.catalogPath, 'utf8');
  const catalog = join(directory, 'catalog.yaml');
  await writeFile(catalog, shipped.slice(0, shipped.indexOf('outreach:')));
  const { code, stdout } = await preview(['personal', '--locale', 'de', '--text', '--name', ''], {
    LATCHKEY_CATALOG: catalog,
    LATCHKEY_MAIL_FROM: 'Robin Vale <robin@studio.example>',
    LATCHKEY_PUBLIC_URL: 'https://license.studio.example',
  });
  assert.equal(code, 0);
  assert.equal(stdout.split('\n')[0], 'Personal eine Woche lang ausprobieren');
  assert.match(stdout, /^Guten Tag,$/mu);
  assert.match(stdout, /^Robin Vale$/mu);
  assert.match(stdout, /^https:\/\/studio\.example\/$/mu);
  assert.match(stdout, /^https:\/\/license\.studio\.example\/u\/example$/mu);
});

test('writes the HTML of an outreach message to a file', async () => {
  const file = join(directory, 'letter.html');
  const { code, stderr } = await preview(['update_sellers', '--out', file, '--name', 'Zoë']);
  assert.equal(code, 0);
  assert.match(stderr, /Example Studio 2\.4: news for sellers/u);
  assert.match(readFileSync(file, 'utf8'), /<!doctype html>[^]*Hello Zoë,/u);
});

test('rejects an unknown template, and lists the known ones (exit code 2)', async () => {
  const { code, stderr } = await preview(['spam']);
  assert.equal(code, 2);
  assert.match(
    stderr,
    /key, replaced_key, gift_sent, buyer_code, machine_freed, confirmation, personal, sellers, update_personal, update_sellers, pi_tutorials/u,
  );
});

test('prints an e-mail in a language as text, or writes its HTML to a file', async () => {
  const shown = await preview(['key', '--locale', 'de-AT', '--text']);
  assert.match(shown.stdout, /^Ihre 2 Lizenzschlüssel\n/u);
  const file = join(directory, 'key.html');
  const written = await preview(['key', '--out', file]);
  assert.deepEqual([written.code, written.stdout], [0, '']);
  assert.match(readFileSync(file, 'utf8'), /^<!doctype html>\n<html lang="en">/u);
  const lost = await preview(['key', '--out', '/nowhere/key.html']);
  assert.equal(lost.code, 1);
  assert.match(lost.stderr, /\/nowhere\/key\.html/u);
});

async function refuse(transactionId: string, reason: string): Promise<void> {
  await pool.query(
    `insert into key_emails (transaction_id, provider, state, reason, created_at)
     values ($1, 'paddle', 'refused', $2, now())`,
    [transactionId, reason],
  );
}

beforeEach(async () => {
  await pool.query('truncate jobs, key_emails');
  await emptyAuditLog(pool);
});

test('queues refused e-mails again, and records the reason', async () => {
  await refuse('txn_1', 'smtp_550');
  await refuse('txn_2', 'smtp_554');
  await refuse('txn_3', 'unconfirmed');
  const reason = ['--reason', 'the relay trusts us again'];
  const done = await run('mail', 'resend', '--refused', ...reason, '--json');
  assert.deepEqual([done.code, JSON.parse(done.stdout)], [0, { queued: 2 }]);
  const { rows: jobs } = await pool.query('select key from jobs order by key');
  assert.deepEqual(
    jobs.map(({ key }) => key),
    ['send_key_email:paddle:txn_1', 'send_key_email:paddle:txn_2'],
  );
  const { rows } = await pool.query('select action, subject_id, reason from audit_log');
  assert.deepEqual(rows, [
    { action: 'mail.resend', subject_id: 'refused', reason: 'the relay trusts us again' },
  ]);
  const other = await run('mail', 'resend', '--unconfirmed', '--json');
  assert.deepEqual([other.code, JSON.parse(other.stdout)], [0, { queued: 1 }]);
  const none = await run('mail', 'resend', '--refused', '--json');
  assert.deepEqual([none.code, JSON.parse(none.stdout)], [0, { queued: 0 }]);
});

test('queues the key of one license, or says why not (exit code 1)', async () => {
  const mail = { LATCHKEY_MAIL_FROM: 'shop@example.com' };
  const resend = (...args: string[]) =>
    runLatchkey(['mail', 'resend', ...args], { directory, settings: { ...ofDatabase, ...mail } });
  const { license_id: id, license_key: key } = await runJson(
    'license',
    'issue',
    '--product=personal',
    '--email=ann@example.com',
  );
  const done = await resend('--license', key, '--reason', 'lost it', '--json');
  assert.deepEqual([done.code, JSON.parse(done.stdout)], [0, { queued: 1 }]);
  const { rows: jobs } = await pool.query('select key from jobs');
  assert.deepEqual(jobs, [{ key: `send_license_key:${id}` }]);
  const { rows } = await pool.query(
    `select action, subject_id, reason from audit_log where action <> 'license.issue'`,
  );
  assert.deepEqual(rows, [{ action: 'license.resend_key', subject_id: id, reason: 'lost it' }]);

  const unconfigured = await run('mail', 'resend', '--license', id);
  assert.deepEqual([unconfigured.code, unconfigured.stdout], [1, '']);
  assert.match(unconfigured.stderr, /LATCHKEY_MAIL_FROM/u);
  await runJson('license', 'owner', id, '--email', '', '--reason', 'unknown');
  const nobody = await resend('--license', id);
  assert.equal(nobody.code, 1);
  assert.match(nobody.stderr, /^latchkey: The license has no e-mail address: .*license owner/u);
  await runJson('license', 'suspend', id, '--reason', 'test');
  assert.match((await resend('--license', id)).stderr, /^latchkey: The license is not valid: /u);
  const unknown = await resend('--license', randomUUID());
  assert.equal(unknown.code, 1);
});

test('rejects an unknown purchase (exit code 1), and none or two selections (exit code 2)', async () => {
  const unknown = await run('mail', 'resend', 'txn_9');
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /^latchkey: .*transaction/u);
  for (const args of [
    [],
    ['txn_1', '--refused'],
    ['--refused', '--unconfirmed'],
    ['txn_1', '--license', 'x'],
  ]) {
    const { code, stderr } = await run('mail', 'resend', ...args);
    assert.equal(code, 2);
    assert.match(stderr, /--refused/u);
  }
});
