import assert from 'node:assert/strict';
import { after, beforeEach, describe, test } from 'node:test';

import { createJobHandlers } from '#server/background.ts';
import { createSmtpTransport } from '#server/mail/smtp-transport.ts';

import { startTestService } from '../../../test/harness.ts';
import { readHeader, readParts, startMailRelay } from '../../../test/mail-relay.ts';
import { DAY_MS, HOUR_MS, TEST_START } from '../../../test/test-clock.ts';
import { hashAddress } from '../suppressions/address-hash.ts';
import { deleteSuppression, findSuppression } from '../suppressions/queries/suppressions.ts';
import { createSubscriberCleanup } from './subscriber-cleanup.ts';
import { findSubscriber } from './queries/subscribers.ts';
import { stateOf } from './rules/subscription.ts';
import { subscribe as storeSubscription } from './subscribe.ts';

const relay = await startMailRelay();
const from = 'Example Shop <news@example.com>';
const mail = createSmtpTransport({ url: relay.url, from, dkim: null });
const service = await startTestService({ mail });
after(async () => {
  mail.close();
  await relay.close();
});

const { context, pool, clock } = service;
const EMAIL = 'ada@example.com';
const hash = hashAddress(context.vault, EMAIL);
const MINUTE_MS = 60_000;

let start = 0;
const mails = () => relay.mails.slice(start);

beforeEach(async () => {
  relay.script = {};
  start = relay.mails.length;
  clock.set(TEST_START);
  await pool.query('truncate subscribers, suppressions, subscriber_confirmations, jobs');
});

/** Runs the jobs that are due by the test's clock, each once. */
async function runJobs(): Promise<void> {
  const { rows } = await pool.query(
    `delete from jobs where run_at <= greatest(now(), $1) returning payload`,
    [clock.now()],
  );
  for (const { payload } of rows) await runJob(payload);
}

async function runJob(payload: unknown = { addressHash: hash }): Promise<void> {
  const handler = createJobHandlers(context).find(({ name }) => name === 'send_confirmation');
  assert.ok(handler !== undefined);
  await handler.run(payload, AbortSignal.timeout(10_000));
}

async function subscribe(language?: string): Promise<void> {
  const headers = language === undefined ? {} : { 'accept-language': language };
  const answer = await service.post('/api/v1/subscribers', { email: EMAIL }, headers);
  assert.equal(answer.status, 201);
  await runJobs();
}

/** Returns the path of the link in the newest e-mail. */
function linkOf(kind: 's' | 'u'): string {
  const newest = mails().at(-1);
  assert.ok(newest !== undefined, 'no e-mail arrived');
  const link = new RegExp(`https://license\\.example\\.com(?<path>/${kind}/[\\w-]+)`, 'u');
  const path = link.exec(readParts(newest))?.groups?.['path'];
  assert.ok(path !== undefined);
  return path;
}

async function state(): Promise<string> {
  const facts = await findSubscriber(pool, hash);
  return facts === null ? 'unknown' : stateOf(facts);
}

const press = (path: string, headers: Record<string, string> = {}) =>
  service.send('POST', path, { headers });
const titleOf = ({ text }: { text: string }) => /<h1>(?<title>[^<]*)<\/h1>/u.exec(text)?.[1];

test('sends the e-mail to one address, in the language of the request, with an unsubscribe link', async () => {
  await subscribe('de-AT,en;q=0.3');
  const [sent, ...others] = mails();
  assert.ok(sent !== undefined && others.length === 0);
  assert.deepEqual([sent.from, sent.to], ['news@example.com', [EMAIL]]);
  assert.equal(readHeader(sent, 'Subject'), '=?UTF-8?Q?Bitte_best=C3=A4tigen_Sie_Ihre_Anmeldung?=');
  assert.equal(readHeader(sent, 'Content-Language'), 'de');
  assert.equal(readHeader(sent, 'List-Unsubscribe-Post'), 'List-Unsubscribe=One-Click');
  const [, url = ''] =
    /^<https:\/\/license\.example\.com(.*)>$/u.exec(readHeader(sent, 'List-Unsubscribe') ?? '') ??
    [];
  assert.equal((await press(url)).status, 200);
  assert.equal(await state(), 'unsubscribed');
  assert.match(
    readParts(sent),
    new RegExp(`Anmeldung bestätigen:?\\s+https://.*${linkOf('s')}`, 'u'),
  );
});

test('opening the link changes nothing, the button confirms', async () => {
  await subscribe();
  const path = linkOf('s');
  for (const method of ['GET', 'HEAD', 'GET']) {
    assert.equal((await service.send(method, path)).status, 200);
  }
  assert.equal(await state(), 'pending');
  assert.equal(titleOf(await service.get(path)), 'One last step');

  clock.advance(47 * HOUR_MS);
  const answer = await press(path);
  assert.deepEqual([answer.status, titleOf(answer)], [200, 'You are subscribed']);
  const facts = await findSubscriber(pool, hash);
  assert.equal(await state(), 'confirmed');
  assert.deepEqual([facts?.optIn, facts?.confirmedAt], ['double', clock.now()]);

  assert.equal(titleOf(await press(path)), 'You are subscribed already');
  assert.equal(titleOf(await service.get(path)), 'You are subscribed already');
});

test('the page is in the language of the browser, else of the e-mail', async () => {
  await subscribe('fr');
  const path = linkOf('s');
  assert.equal(
    titleOf(await service.get(path, { 'accept-language': 'de' })),
    'Nur noch ein Schritt',
  );
  assert.equal(titleOf(await service.get(path, { 'accept-language': 'pl' })), 'Encore une étape');
  assert.equal(titleOf(await service.get(path)), 'Encore une étape');
});

test('rejects an expired, wrong or incomplete link', async () => {
  await subscribe();
  const path = linkOf('s');
  const wrong = `${path.slice(0, -1)}${path.endsWith('A') ? 'E' : 'A'}`;
  const mangled = [`${path}/`, `${path}/x`, `${path}%3E`, `/s/${'A'.repeat(400)}`];
  for (const other of [wrong, path.slice(0, -3), '/s/x', `/s/${'A'.repeat(43)}`, ...mangled]) {
    const answer = await press(other);
    assert.deepEqual([answer.status, await state()], [404, 'pending'], other);
    assert.equal(titleOf(answer), 'This link no longer works', other);
  }
  clock.advance(48 * HOUR_MS);
  const answer = await press(path);
  assert.deepEqual([answer.status, titleOf(answer)], [404, 'This link no longer works']);
  assert.equal(await state(), 'pending');
});

test('stores only the hash of the token, also in jobs', async () => {
  const answer = await service.post('/api/v1/subscribers', { email: EMAIL });
  assert.equal(answer.status, 201);
  const { rows: jobs } = await pool.query('select payload from jobs');
  assert.deepEqual(jobs, [{ payload: { addressHash: hash } }]);
  await runJobs();
  const token = linkOf('s').slice('/s/'.length);
  const { rows } = await pool.query('select * from subscriber_confirmations');
  assert.equal(rows.length, 1);
  assert.equal(Buffer.from(token, 'base64url').length, 32);
  const stored = JSON.stringify(
    rows.map((row) => ({ ...row, hash: row.token_hash.toString('hex') })),
  );
  assert.ok(!stored.includes(token));
  assert.ok(!stored.includes(Buffer.from(token, 'base64url').toString('hex')));
});

describe('a repeated subscription request', () => {
  test('sends no second e-mail within five minutes, and at most three a day', async () => {
    await subscribe();
    clock.advance(4 * MINUTE_MS);
    await subscribe();
    assert.equal(mails().length, 1);
    for (let count = 0; count < 5; count++) {
      clock.advance(5 * MINUTE_MS);
      await subscribe();
    }
    assert.equal(mails().length, 3);
    clock.advance(DAY_MS);
    await subscribe();
    assert.equal(mails().length, 4);
  });

  test('keeps the links of all e-mails valid', async () => {
    await subscribe();
    const first = linkOf('s');
    clock.advance(HOUR_MS);
    await subscribe();
    assert.notEqual(linkOf('s'), first);
    assert.equal(titleOf(await press(first)), 'You are subscribed');
    assert.equal(titleOf(await press(linkOf('s'))), 'You are subscribed already');
  });

  test('sends no e-mail to a confirmed subscriber', async () => {
    await subscribe();
    await press(linkOf('s'));
    clock.advance(DAY_MS);
    await subscribe();
    assert.deepEqual([mails().length, await state()], [1, 'confirmed']);
  });
});

/** Confirms, and unsubscribes an hour later by the link of the e-mail. */
async function unsubscribe(): Promise<{ confirmPath: string; unsubscribePath: string }> {
  await subscribe();
  const paths = { confirmPath: linkOf('s'), unsubscribePath: linkOf('u') };
  await press(paths.confirmPath);
  clock.advance(HOUR_MS);
  await press(paths.unsubscribePath);
  assert.equal(await state(), 'unsubscribed');
  return paths;
}

describe('an unsubscribed address', () => {
  test('is not confirmed by an old link', async () => {
    const { confirmPath } = await unsubscribe();
    assert.equal((await press(confirmPath)).status, 404);
    assert.equal(await state(), 'unsubscribed');
  });

  test('remains unsubscribed after a new request until that is confirmed', async () => {
    await unsubscribe();
    clock.advance(HOUR_MS);
    await subscribe();
    assert.equal(await state(), 'unsubscribed');
    assert.notEqual(await findSuppression(pool, hash), null);
    assert.equal(titleOf(await press(linkOf('s'))), 'You are subscribed');
    assert.equal(await state(), 'confirmed');
    assert.equal(await findSuppression(pool, hash), null);
  });

  test('receives a confirmation e-mail five minutes after the last one', async () => {
    await subscribe();
    await press(linkOf('s'));
    const unsubscribePath = linkOf('u');
    clock.advance(MINUTE_MS);
    await press(unsubscribePath);
    clock.advance(MINUTE_MS);
    await subscribe();
    assert.equal(mails().length, 1);
    clock.advance(3 * MINUTE_MS);
    await runJobs();
    assert.equal(mails().length, 2);
    await press(linkOf('s'));
    assert.equal(await state(), 'confirmed');
  });

  test('receives no confirmation e-mail for an earlier request', async () => {
    relay.script = { recipient: { code: 450, words: 'later' } };
    await assert.rejects(subscribe(), /smtp_450/u);
    clock.advance(MINUTE_MS);
    await pool.query(`insert into suppressions values (decode($1, 'hex'), 'unsubscribed', $2)`, [
      hash,
      clock.now(),
    ]);
    relay.script = {};
    await runJob();
    assert.equal(mails().length, 0);
  });

  for (const reason of ['erased', 'by_hand', 'bounced', 'complained']) {
    test(`suppressed as ${reason} receives no confirmation e-mail`, async () => {
      await pool.query(`insert into suppressions values (decode($1, 'hex'), $2, $3)`, [
        hash,
        reason,
        TEST_START,
      ]);
      clock.advance(DAY_MS);
      await subscribe();
      assert.equal(mails().length, 0);
      await deleteSuppression(pool, hash);
      clock.advance(DAY_MS);
      await subscribe();
      assert.equal(mails().length, 1, 'until an operator lifts it');
    });
  }
});

describe('without double opt-in (LATCHKEY_DOUBLE_OPT_IN=off)', () => {
  const singleOptIn = {
    ...context,
    config: {
      ...context.config,
      subscribers: { ...context.config.subscribers, doubleOptIn: false },
    },
  };
  async function subscribeSingle(): Promise<void> {
    await storeSubscription(singleOptIn, EMAIL, undefined);
    await runJobs();
  }

  test('an unsubscribed address must still confirm', async () => {
    await unsubscribe();
    clock.advance(HOUR_MS);
    await subscribeSingle();
    assert.deepEqual([mails().length, await state()], [2, 'unsubscribed']);
    assert.equal(titleOf(await press(linkOf('s'))), 'You are subscribed');
    assert.equal(await state(), 'confirmed');
  });

  test('a new address is confirmed at once, without an e-mail', async () => {
    await subscribeSingle();
    const facts = await findSubscriber(pool, hash);
    assert.deepEqual([mails().length, await state(), facts?.optIn], [0, 'confirmed', 'single']);
  });

  test('a suppressed address receives no confirmation e-mail', async () => {
    await pool.query(`insert into suppressions values (decode($1, 'hex'), 'by_hand', $2)`, [
      hash,
      TEST_START,
    ]);
    clock.advance(DAY_MS);
    await subscribeSingle();
    assert.deepEqual([mails().length, await state()], [0, 'suppressed']);
  });
});

describe('a refusal by the relay', () => {
  test('temporary: retries send the same link and Message-ID', async () => {
    relay.script = { message: { code: 451, words: 'try again' } };
    await assert.rejects(subscribe(), /did not accept the e-mail: smtp_451/u);
    const facts = await findSubscriber(pool, hash);
    assert.deepEqual([facts?.confirmationProblem, facts?.confirmationMailedAt], ['smtp_451', null]);
    relay.script = {};
    await runJob();
    const [first] = mails();
    assert.ok(first !== undefined);
    await pool.query('update subscriber_confirmations set mailed_at = null');
    await runJob();
    const [, second] = mails();
    assert.ok(second !== undefined);
    assert.equal(readHeader(second, 'Message-ID'), readHeader(first, 'Message-ID'));
    assert.equal(titleOf(await press(linkOf('s'))), 'You are subscribed');
  });

  test('permanent: is stored and not retried', async () => {
    relay.script = { recipient: { code: 550, words: `no ${EMAIL} here` } };
    await subscribe();
    const facts = await findSubscriber(pool, hash);
    assert.deepEqual([facts?.confirmationProblem, await state()], ['smtp_550', 'pending']);
    assert.ok(!service.log.some((line) => line.includes(EMAIL)));
    relay.script = {};
    clock.advance(MINUTE_MS);
    await subscribe();
    assert.equal(mails().length, 1, 'a new request is sent');
  });
});

const deleteOld = () => createSubscriberCleanup(context).run(new AbortController().signal);

test('deletes unconfirmed subscribers after thirty days, and expired links', async () => {
  await subscribe();
  await service.post('/api/v1/subscribers', { email: 'grace@example.com' });
  await runJobs();
  await press(linkOf('s'));
  clock.advance(30 * DAY_MS);
  await deleteOld();
  assert.equal(await service.count('subscribers'), 2);
  clock.advance(1);
  await deleteOld();
  const { rows } = await pool.query('select email from subscribers');
  assert.deepEqual(rows, [{ email: 'grace@example.com' }]);
  clock.advance(2 * DAY_MS);
  await deleteOld();
  assert.equal(await service.count('subscriber_confirmations'), 0);
});
