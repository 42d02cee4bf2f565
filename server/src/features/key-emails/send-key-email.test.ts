import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';

import type { MailMessage, MailTransport, SendResult } from '#server/mail/mail-transport.ts';
import { createSmtpTransport } from '#server/mail/smtp-transport.ts';

import { readHeader, readParts, startMailRelay } from '../../../test/mail-relay.ts';
import { eventually } from '../../../test/eventually.ts';
import { startTestService, type TestOrder } from '../../../test/harness.ts';
import { TEST_START } from '../../../test/test-clock.ts';
import { queueKeyEmails } from '../billing/queue-jobs.ts';
import { releaseEmailsWithoutMail } from './requeue-emails.ts';
import { resendKeyEmails } from './requeue-emails.ts';
import { sendKeyEmail } from './send-key-email.ts';
import { countUnsentKeyEmails } from './backlog-queries.ts';

const relay = await startMailRelay();
const from = 'Example Shop <shop@example.com>';
const mail = createSmtpTransport({ url: relay.url, from, dkim: null });
const service = await startTestService({ mail });
after(async () => {
  mail.close();
  await relay.close();
});

const { context, pool } = service;
const name = { provider: 'paddle', transactionId: 'txn_1' };
const customer = { email: 'ann@example.org', name: 'Ann Example' };

/** Inserts a license of the transaction's line. */
async function buy(
  line: string,
  order: TestOrder = {},
  buyer: Partial<typeof customer> = customer,
) {
  const issued = await service.issue(order);
  await pool.query('update licenses set customer_email = $2, customer_name = $3 where id = $1', [
    issued.license.id,
    buyer.email ?? null,
    buyer.name ?? null,
  ]);
  await pool.query('insert into billing_licenses values ($1, $2, $3, $4)', [
    name.transactionId,
    name.provider,
    line,
    issued.license.id,
  ]);
  return issued;
}

async function readState() {
  const { rows } = await pool.query('select state, reason, sent_at, message_id from key_emails');
  return rows;
}

const mails = () => relay.mails.slice(start);
let start = 0;

beforeEach(async () => {
  relay.script = {};
  start = relay.mails.length;
  service.clock.set(TEST_START);
  await pool.query(
    'truncate key_emails, billing_licenses, billing_customers, billing_payments, jobs',
  );
});

test('sends all keys of a transaction in one e-mail, once, in the order of the lines', async () => {
  const first = await buy('1');
  const second = await buy('2', { productId: 'sellers' });
  await sendKeyEmail(context, name);
  await sendKeyEmail(context, name);
  const [sent, ...others] = mails();
  assert.ok(sent !== undefined && others.length === 0);
  assert.deepEqual([sent.from, sent.to], ['shop@example.com', ['ann@example.org']]);
  assert.equal(readHeader(sent, 'To'), 'Ann Example <ann@example.org>');
  assert.equal(readHeader(sent, 'Subject'), 'Your 2 license keys');
  const parts = readParts(sent);
  const keys = [...parts.matchAll(/LK(?:-[\dA-Z]{5}){5}/gu)].map(([key]) => key);
  const expected = [first.licenseKey, second.licenseKey];
  assert.deepEqual(keys, [...expected, ...expected], 'once in each form');
  assert.match(parts, /Personal[\s\S]*up to 2 computers[\s\S]*Sellers[\s\S]*up to 10 computers/u);
  assert.deepEqual(await readState(), [
    {
      state: 'sent',
      reason: null,
      sent_at: TEST_START,
      message_id: readHeader(sent, 'Message-ID'),
    },
  ]);
});

test('sends one e-mail from concurrent processes', async () => {
  await buy('1');
  const free = Promise.withResolvers<void>();
  let sending = 0;
  const send: MailTransport['send'] = async (message, signal) => {
    sending += 1;
    await free.promise;
    return mail.send(message, signal);
  };
  const refusals: unknown[] = [];
  const tries = Array.from({ length: 8 }, () =>
    sendKeyEmail({ ...context, mail: { send, close() {} } }, name).catch((error: unknown) => {
      refusals.push(error);
    }),
  );
  await eventually(() => sending + refusals.length === 8);
  free.resolve();
  await Promise.all(tries);
  assert.deepEqual([sending, mails().length], [1, 1]);
  // The jobs that found a claim are retried.
  for (const error of refusals) assert.match(String(error), /another process is sending it/u);
});

test('resends with the same Message-ID after the claim of a killed process timed out', async () => {
  await buy('1');
  const sent: MailMessage[] = [];
  const killed = {
    ...context,
    mail: { send: (message: MailMessage) => never(sent, message), close() {} },
  };
  void sendKeyEmail(killed, name);
  while (sent.length === 0) await new Promise(setImmediate);
  await assert.rejects(sendKeyEmail(context, name), /^Error: another process is sending it$/u);
  service.clock.advance(180_001);
  await sendKeyEmail(context, name);
  const [mailed] = mails();
  assert.ok(mailed !== undefined);
  assert.equal(readHeader(mailed, 'Message-ID'), `<${sent[0]?.messageToken}@example.com>`);
});

test('sends after a killed process claimed the e-mail and the clock was set back', async () => {
  await buy('1');
  await pool.query(
    `insert into key_emails (transaction_id, provider, state, created_at, claimed_at) values ($1, $2, 'sending', $3, $4)`,
    [name.transactionId, name.provider, TEST_START, new Date(TEST_START.getTime() + 180_001)],
  );
  await sendKeyEmail(context, name);
  assert.equal(mails().length, 1);
});

function never(sent: MailMessage[], message: MailMessage): Promise<SendResult> {
  sent.push(message);
  return new Promise(() => {});
}

test('sends the key of a license that is created later separately', async () => {
  const first = await buy('1');
  await sendKeyEmail(context, name);
  const second = await buy('2');
  await sendKeyEmail(context, name);
  await sendKeyEmail(context, name);
  const [one, two, ...others] = mails();
  assert.ok(one !== undefined && two !== undefined && others.length === 0);
  assert.ok(readParts(two).includes(second.licenseKey));
  assert.ok(!readParts(two).includes(first.licenseKey));
  assert.notEqual(readHeader(one, 'Message-ID'), readHeader(two, 'Message-ID'));
});

test('waits for an address', async () => {
  const { license } = await buy('1', {}, {});
  await sendKeyEmail(context, name);
  assert.deepEqual([mails().length, (await readState())[0].reason], [0, 'no_address']);
  assert.deepEqual(await countUnsentKeyEmails(pool), {
    noAddress: 1,
    noMail: 0,
    refused: 0,
    unconfirmed: 0,
  });
  await pool.query('update licenses set customer_email = $2 where id = $1', [
    license.id,
    customer.email,
  ]);
  await sendKeyEmail(context, name);
  assert.deepEqual([mails().length, (await readState())[0].state], [1, 'sent']);
});

test('waits for a mail relay', async () => {
  await buy('1');
  await sendKeyEmail({ ...context, mail: null }, name);
  assert.deepEqual((await readState())[0].reason, 'no_mail');
});

test('retries a temporary failure; after a permanent one sends only to another address', async () => {
  const { license } = await buy('1');
  relay.script = { recipient: { code: 450, words: 'later' } };
  await assert.rejects(
    sendKeyEmail(context, name),
    /^Error: the mail relay did not accept it: smtp_450$/u,
  );
  assert.deepEqual((await readState())[0].state, 'waiting');
  relay.script = { recipient: { code: 550, words: '<ann@example.org> unknown' } };
  await sendKeyEmail(context, name);
  assert.deepEqual(await countUnsentKeyEmails(pool), {
    noAddress: 0,
    noMail: 0,
    refused: 1,
    unconfirmed: 0,
  });
  relay.script = {};
  await sendKeyEmail(context, name);
  assert.equal(mails().length, 0);
  await pool.query(`update licenses set customer_email = 'bob@example.org' where id = $1`, [
    license.id,
  ]);
  await sendKeyEmail(context, name);
  assert.deepEqual(
    mails().map(({ to }) => to),
    [['bob@example.org']],
  );
  assert.doesNotMatch(service.log.join(''), /(?:ann|bob)@example|LK-/u);
});

/** A relay with these results, one for each e-mail, that then accepts all; returns the received ids. */
function answerWith(...outcomes: readonly ('unknown' | 'temporary')[]) {
  const tries: string[] = [];
  const send = async ({ messageToken }: MailMessage): Promise<SendResult> => {
    const outcome = outcomes[tries.push(messageToken) - 1];
    if (outcome === undefined) return { outcome: 'sent', messageId: '<id@example.com>' };
    return { outcome, reason: 'timeout', reply: null };
  };
  return { tries, slow: { ...context, mail: { send, close() {} } } };
}

/** The jobs with their delays in seconds. */
async function readJobs() {
  const { rows } = await pool.query(
    `select key, extract(epoch from run_at - $1)::integer as pause from jobs`,
    [service.clock.now()],
  );
  return rows;
}

const JOB = 'send_key_email:paddle:txn_1';

test('sends an unconfirmed e-mail at most twice, with a delay', async () => {
  await buy('1');
  const { tries, slow } = answerWith('unknown', 'temporary', 'unknown');
  await sendKeyEmail(slow, name);
  assert.deepEqual(await readJobs(), [{ key: JOB, pause: 600 }]);
  service.clock.advance(600_000);
  await assert.rejects(sendKeyEmail(slow, name), /timeout$/u);
  await sendKeyEmail(slow, name);
  const [state] = await readState();
  assert.deepEqual([state.state, state.reason], ['refused', 'unconfirmed']);
  assert.deepEqual(await countUnsentKeyEmails(pool), {
    noAddress: 0,
    noMail: 0,
    refused: 0,
    unconfirmed: 1,
  });
  await sendKeyEmail(slow, name);
  assert.equal(tries.length, 3);
  assert.equal(new Set(tries).size, 1, 'all under the same Message-ID');
});

test('delays the second attempt when it is queued again, unless the address changed', async () => {
  const { license } = await buy('1');
  const { tries, slow } = answerWith('unknown');
  await sendKeyEmail(slow, name);
  service.clock.advance(60_000);
  await queueKeyEmails(pool, [name]);
  await sendKeyEmail(slow, name);
  assert.deepEqual([tries.length, await readJobs()], [1, [{ key: JOB, pause: 540 }]]);
  await pool.query(`update licenses set customer_email = 'bob@example.org' where id = $1`, [
    license.id,
  ]);
  await sendKeyEmail(slow, name);
  assert.deepEqual([tries.length, (await readState())[0].state], [2, 'sent']);
});

test('keeps the unconfirmed state while there is no mail relay or valid license', async () => {
  const { license } = await buy('1');
  const { tries, slow } = answerWith('unknown', 'unknown');
  await sendKeyEmail(slow, name);
  service.clock.advance(600_000);
  await sendKeyEmail({ ...context, mail: null }, name);
  assert.equal((await readState())[0].reason, 'no_mail');
  assert.equal(await releaseEmailsWithoutMail(slow), 1);
  await service.setFacts(license.id, { refunded_at: TEST_START });
  await sendKeyEmail(slow, name);
  assert.equal((await readState())[0].state, 'withheld');
  await service.setFacts(license.id, { refunded_at: null });
  await sendKeyEmail(slow, name);
  const [state] = await readState();
  assert.deepEqual([tries.length, state.state, state.reason], [2, 'refused', 'unconfirmed']);
});

test('allows another unconfirmed attempt after a reset', async () => {
  await buy('1');
  const { tries, slow } = answerWith('unknown', 'unknown', 'unknown');
  await sendKeyEmail(slow, name);
  const order = { which: name, actor: 'test', reason: null };
  assert.equal(await resendKeyEmails(slow, order), 1);
  await sendKeyEmail(slow, name);
  assert.deepEqual([tries.length, (await readState())[0].state], [2, 'waiting']);
});

test('withholds keys of invalid licenses', async () => {
  await buy('1', { facts: { refunded_at: TEST_START } });
  await buy('2', { facts: { revoked_at: TEST_START } });
  await sendKeyEmail(context, name);
  assert.deepEqual([mails().length, (await readState())[0].state], [0, 'withheld']);
  const good = await buy('3');
  await sendKeyEmail(context, name);
  const [mailed] = mails();
  assert.ok(mailed !== undefined && readParts(mailed).includes(good.licenseKey));
  assert.equal(readHeader(mailed, 'Subject'), 'Your license key for Personal');
});

for (const [what, known, reported, subject] of [
  ['of the stored customer', 'de', 'fr', /^=\?UTF-8\?Q\?Ihr_Lizenz/u],
  ['of the payment', null, 'fr-CA', /^=\?UTF-8\?Q\?Votre_cl/u],
  ['English otherwise', null, null, /^Your license key for Personal$/u],
] as const) {
  test(`chooses the language: ${what}`, async () => {
    await buy('1');
    const fact = JSON.stringify({ customer: { email: null, name: null, locale: reported } });
    await pool.query(
      `insert into billing_payments (transaction_id, provider, event_id, customer_id, occurred_at, fact)
       values ('txn_1', 'paddle', 'evt_1', 'ctm_1', now(), $1)`,
      [fact],
    );
    await pool.query(
      `insert into billing_customers (customer_id, provider, occurred_at, email, name, locale)
       values ('ctm_1', 'paddle', now(), null, null, $1)`,
      [known],
    );
    await sendKeyEmail(context, name);
    assert.match(readHeader(mails()[0] ?? { from: '', to: [], raw: '' }, 'Subject') ?? '', subject);
  });
}
