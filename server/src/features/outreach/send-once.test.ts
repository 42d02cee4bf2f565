import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { createSmtpTransport } from '#server/mail/smtp-transport.ts';

import { eventually } from '../../../test/eventually.ts';
import { startTestService } from '../../../test/harness.ts';
import {
  errorsOf,
  MAIL_FROM,
  createSender,
  manyRecipients,
  readOutreach,
  startOutreachService,
  type OutreachService,
} from '../../../test/outreach-steps.ts';
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../../test/test-clock.ts';
import { hashAddress } from '../suppressions/address-hash.ts';
import { insertSuppression } from '../suppressions/queries/suppressions.ts';
import { anonymizeMessages } from './queries/messages.ts';
import { createOutreachCleanup } from './outreach-cleanup.ts';

const recipients = [
  { email: 'ada@example.org', name: 'Ada' },
  { email: 'gone@example.org' },
  { email: 'ADA@example.org' },
];

const script = {
  forRecipient: (address: string) =>
    address.startsWith('gone') ? { recipient: { code: 550, words: '5.1.1 gone' } } : undefined,
};

/** Starts a second process of the same service with the same relay. */
async function startBeside({ service, relay }: OutreachService) {
  const transport = createSmtpTransport({ url: relay.url, from: MAIL_FROM, dkim: null });
  after(() => transport.close());
  return startTestService({ beside: service, mailFrom: MAIL_FROM, outreachMail: transport });
}

test('returns the stored answer for a repeated request, and sends nothing', async () => {
  const { send, sendWell, relay, service } = await startOutreachService({ script });
  const key = { 'idempotency-key': 'today' };
  const first = await send({ recipients }, key);
  assert.deepEqual(errorsOf(readOutreach(first)), [null, 'smtp_550: 5.1.1 gone', 'duplicate']);
  relay.script = { recipient: { code: 550, words: 'nobody any more' } };
  for (const again of [recipients, structuredClone(recipients)]) {
    const second = await send({ recipients: again, language: 'en' }, key);
    assert.deepEqual([second.status, second.body], [200, first.body]);
  }
  await anonymizeMessages(service.pool, hashAddress(service.context.vault, 'ada@example.org'));
  assert.deepEqual((await send({ recipients }, key)).body, first.body, 'after an erasure');
  assert.equal(relay.mails.length, 1);
  relay.script = {};
  for (const headers of [{ 'idempotency-key': 'tomorrow' }, {}]) {
    assert.equal((await sendWell({ recipients }, headers)).sent, 2);
  }
});

test('resumes a request that a killed process claimed before the clock was set back', async () => {
  const { sendWell, relay, service } = await startOutreachService();
  const key = { 'idempotency-key': 'k' };
  const first = await sendWell({ recipients }, key);
  await service.pool.query(
    `update outreach_idempotency_keys set answered_at = null, claimed_at = $1`,
    [new Date(service.clock.now().getTime() + 20_001)],
  );
  assert.deepEqual(await sendWell({ recipients }, key), first);
  assert.equal(relay.mails.length, 2);
});

test('rejects another body under the same key for a day', async () => {
  const { send, sendWell, relay, service } = await startOutreachService();
  const key = { 'idempotency-key': 'k' };
  const [ada] = recipients;
  assert.ok(ada !== undefined);
  await sendWell({ recipients: [ada] }, key);
  const others = [
    { recipients: [{ ...ada, name: 'Augusta' }] },
    { recipients: [ada, ada] },
    { recipients: [ada], template: 'sellers' as const },
    { recipients: [ada], language: 'fr' as const },
  ];
  for (const other of others) assert.equal((await send(other, key)).status, 409);
  assert.equal(relay.mails.length, 1);
  service.clock.advance(DAY_MS);
  assert.equal((await send({ recipients: [ada, ada] }, key)).status, 409);
  service.clock.advance(1);
  assert.equal((await sendWell({ recipients: [ada, ada] }, key)).sent, 1);
  assert.equal(relay.mails.length, 2);
});

test('keeps the idempotency keys of each API key apart', async () => {
  const outreach = await startOutreachService();
  const other = await createSender(outreach.service);
  const key = { 'idempotency-key': 'k' };
  await outreach.sendWell({ recipients }, key);
  await other.sendWell({ recipients: manyRecipients(1) }, key);
  assert.equal(outreach.relay.mails.length, 3);
});

test('sends one of several concurrent requests in two processes, and answers all alike', async () => {
  const outreach = await startOutreachService({ script: { slowMs: 100 } });
  const beside = await createSender(await startBeside(outreach));
  const key = { 'idempotency-key': 'at once' };
  const many = { recipients: manyRecipients(20) };
  const senders = [outreach, beside, outreach, beside, outreach, beside];
  const answers = await Promise.all(
    senders.map(({ sendWell }) => sendWell(many, { ...key, 'x-api-key': outreach.apiKey })),
  );
  assert.equal(answers[0]?.sent, 20);
  for (const answer of answers) assert.deepEqual(answer, answers[0]);
  assert.equal(outreach.relay.mails.length, 20);
});

test('resumes a request whose lease expired: sends no message twice, and reports started ones as unknown', async () => {
  const outreach = await startOutreachService({ script: { slowMs: 400 } });
  const beside = await createSender(await startBeside(outreach));
  const headers = { 'idempotency-key': 'k', 'x-api-key': outreach.apiKey };
  const many = { recipients: manyRecipients(60) };
  const first = outreach.sendWell(many, headers);
  await eventually(() => outreach.relay.mails.length >= 5);
  outreach.service.clock.advance(21 * SECOND_MS);
  const second = await beside.sendWell(many, headers);
  const errors = errorsOf(second);
  const unknown = errors.filter((error) => error === 'unknown').length;
  assert.ok(unknown > 0 && unknown <= 50, `${unknown} unknown`);
  assert.ok(second.sent > 0);
  assert.deepEqual(new Set(errors), new Set([null, 'unknown']));
  await first;
  const mailed = outreach.relay.mails.map(({ to }) => to[0]);
  assert.equal(new Set(mailed).size, mailed.length, 'a message was sent twice');
  assert.equal(mailed.length, 60);
  // Outcomes that the first process stored later replace unknown ones.
  const third = await outreach.sendWell(many, headers);
  assert.equal(third.sent, 60);
});

test('resuming does not send to an address that unsubscribed after the process was killed', async () => {
  const { sendWell, relay, service } = await startOutreachService({
    script: { recipient: { code: 550, words: 'nobody' } },
  });
  const headers = { 'idempotency-key': 'k' };
  const two = { recipients: manyRecipients(2) };
  await sendWell(two, headers);
  // The state after a process was killed before the first message.
  await service.pool.query(
    `update outreach_messages set state = 'waiting', error = null, ended_at = null`,
  );
  await service.pool.query('update outreach_idempotency_keys set answered_at = null');
  relay.script = {};
  service.clock.advance(HOUR_MS);
  await unsubscribeRecipient(service, 1);
  const resumed = await sendWell(two, headers);
  assert.deepEqual(errorsOf(resumed), [null, 'suppressed']);
  assert.deepEqual(
    relay.mails.map(({ to }) => to),
    [['person-0@example.org']],
  );
  assert.deepEqual(await sendWell(two, headers), resumed);
});

test('does not send to an address that unsubscribes during the request, also at the second attempt', async () => {
  const { sendWell, relay, service } = await startOutreachService({ script: { slowMs: 150 } });
  let isDeferred = false;
  relay.script = {
    slowMs: 150,
    forRecipient(address) {
      if (address !== 'person-0@example.org') return undefined;
      isDeferred = true;
      return { recipient: { code: 450, words: 'later' } };
    },
  };
  const sending = sendWell({ recipients: manyRecipients(30) });
  await eventually(() => isDeferred && relay.mails.length >= 1);
  for (const index of [0, 29]) await unsubscribeRecipient(service, index);
  relay.script = {};
  const errors = errorsOf(await sending);
  assert.deepEqual([errors[0], errors[29]], ['suppressed', 'suppressed']);
  const mailed = relay.mails.flatMap(({ to }) => to);
  assert.equal(mailed.length, 28);
  assert.ok(!mailed.includes('person-0@example.org') && !mailed.includes('person-29@example.org'));
});

async function unsubscribeRecipient(
  { context, pool, clock }: OutreachService['service'],
  index: number,
): Promise<void> {
  const addressHash = hashAddress(context.vault, `person-${index}@example.org`);
  await insertSuppression(pool, {
    addressHash,
    reason: 'unsubscribed',
    suppressedAt: clock.now(),
  });
}

test('deletes answers after a day and messages after thirty', async () => {
  const { sendWell, service } = await startOutreachService();
  const { clock, context } = service;
  const cleanUp = () => createOutreachCleanup(context).run(new AbortController().signal);
  await sendWell({ recipients }, { 'idempotency-key': 'old' });
  clock.advance(DAY_MS - HOUR_MS);
  await sendWell({ recipients }, { 'idempotency-key': 'new' });
  clock.advance(HOUR_MS + 1);
  await cleanUp();
  const count = async () => [
    await service.count('outreach_idempotency_keys'),
    await service.count('outreach_messages'),
  ];
  assert.deepEqual(await count(), [1, 6]);
  clock.advance(29 * DAY_MS);
  await cleanUp();
  assert.deepEqual(await count(), [0, 3]);
});
