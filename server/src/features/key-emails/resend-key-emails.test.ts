import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';

import { suspendLicense } from '#server/features/licenses/change-license.ts';
import { createSmtpTransport } from '#server/mail/smtp-transport.ts';

import { emptyAuditLog } from '../../../test/audit-log.ts';
import { startTestService } from '../../../test/harness.ts';
import { readHeader, readParts, startMailRelay } from '../../../test/mail-relay.ts';
import { reinstateAndSend } from '../billing/reinstate-license.ts';
import { resendKeyEmails } from './requeue-emails.ts';
import { sendKeyEmail } from './send-key-email.ts';

const relay = await startMailRelay();
const mail = createSmtpTransport({ url: relay.url, from: 'shop@example.com', dkim: null });
const service = await startTestService({ mail });
after(async () => {
  mail.close();
  await relay.close();
});

const { context, pool } = service;
const by = { actor: 'tester', reason: 'a test' };

async function buy(transactionId: string) {
  const issued = await service.issue();
  await pool.query(`update licenses set customer_email = 'ann@example.org' where id = $1`, [
    issued.license.id,
  ]);
  await pool.query(`insert into billing_licenses values ($1, 'paddle', '1', $2)`, [
    transactionId,
    issued.license.id,
  ]);
  return issued;
}

const send = (transactionId: string) =>
  sendKeyEmail(context, { provider: 'paddle', transactionId });

async function listQueued(): Promise<string[]> {
  const { rows } = await pool.query(`select key from jobs where key is not null order by key`);
  return rows.map(({ key }) => key);
}

async function listAudited() {
  const { rows } = await pool.query(
    `select action, subject_id, actor, reason, details from audit_log where action = 'mail.resend'`,
  );
  return rows;
}

let start = 0;
const mails = () => relay.mails.slice(start);

beforeEach(async () => {
  relay.script = {};
  start = relay.mails.length;
  await pool.query('truncate key_emails, billing_licenses, billing_aliases, jobs');
  await emptyAuditLog(pool);
});

test('resends a sent e-mail with all keys and a new Message-ID', async () => {
  const { licenseKey } = await buy('txn_1');
  await send('txn_1');
  service.clock.advance(1_000);
  assert.equal(await resendKeyEmails(context, { which: { transactionId: 'txn_1' }, ...by }), 1);
  assert.deepEqual(await listQueued(), ['send_key_email:paddle:txn_1']);
  await send('txn_1');
  await send('txn_1');
  const [first, second, ...others] = mails();
  assert.ok(first !== undefined && second !== undefined && others.length === 0);
  assert.ok(readParts(second).includes(licenseKey));
  assert.notEqual(readHeader(first, 'Message-ID'), readHeader(second, 'Message-ID'));
  assert.deepEqual(await listAudited(), [
    {
      action: 'mail.resend',
      subject_id: 'txn_1',
      actor: 'tester',
      reason: 'a test',
      details: { queued: 1 },
    },
  ]);
});

test('finds a purchase by an alias of its payment, but not one without licenses', async () => {
  await buy('txn_1');
  await pool.query(`insert into billing_aliases values ('cs_1', 'paddle', 'txn_1')`);
  assert.equal(await resendKeyEmails(context, { which: { transactionId: 'cs_1' }, ...by }), 1);
  assert.deepEqual(await listQueued(), ['send_key_email:paddle:txn_1']);
  assert.equal(await resendKeyEmails(context, { which: { transactionId: 'txn_2' }, ...by }), 0);
});

test('skips an e-mail that is being sent until its claim times out', async () => {
  await buy('txn_1');
  await pool.query(
    `insert into key_emails (transaction_id, provider, state, created_at, claimed_at)
     values ('txn_1', 'paddle', 'sending', $1, $1)`,
    [service.clock.now()],
  );
  const which = { transactionId: 'txn_1' };
  assert.equal(await resendKeyEmails(context, { which, ...by }), 0);
  service.clock.advance(180_001);
  assert.equal(await resendKeyEmails(context, { which, ...by }), 1);
});

test('resets an e-mail that a killed process claimed before the clock was set back', async () => {
  await buy('txn_1');
  await pool.query(
    `insert into key_emails (transaction_id, provider, state, created_at, claimed_at)
     values ('txn_1', 'paddle', 'sending', $1, $1)`,
    [new Date(service.clock.now().getTime() + 180_001)],
  );
  assert.equal(await resendKeyEmails(context, { which: { transactionId: 'txn_1' }, ...by }), 1);
});

test('resends all permanently refused e-mails and no others', async () => {
  for (const id of ['txn_1', 'txn_2', 'txn_3']) await buy(id);
  await send('txn_3');
  relay.script = { message: { code: 550, words: 'your sender is on a list' } };
  await send('txn_1');
  await send('txn_2');
  await pool.query(`update key_emails set reason = 'unconfirmed' where transaction_id = 'txn_2'`);
  relay.script = {};
  await send('txn_1');
  assert.equal(mails().length, 1, 'not by itself');
  assert.equal(await resendKeyEmails(context, { which: 'refused', ...by }), 1);
  assert.deepEqual(await listQueued(), ['send_key_email:paddle:txn_1']);
  assert.equal(await resendKeyEmails(context, { which: 'unconfirmed', ...by }), 1);
  for (const id of ['txn_1', 'txn_2', 'txn_3']) await send(id);
  assert.equal(mails().length, 3);
  assert.equal(await resendKeyEmails(context, { which: 'refused', ...by }), 0);
});

test('sends a withheld key once its license is reinstated', async () => {
  const { license, licenseKey } = await buy('txn_1');
  const change = { keyOrId: license.id, ...by };
  await suspendLicense(context, change);
  await send('txn_1');
  assert.equal(mails().length, 0);
  await reinstateAndSend(context, change);
  assert.deepEqual(await listQueued(), ['send_key_email:paddle:txn_1']);
  await send('txn_1');
  const [sent] = mails();
  assert.ok(sent !== undefined && readParts(sent).includes(licenseKey));
  await pool.query('truncate jobs');
  await reinstateAndSend(context, change);
  assert.deepEqual(await listQueued(), [], 'it was sent');
});
