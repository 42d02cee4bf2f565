/** Strangers who want to fill the mailbox of somebody else with e-mails of the service. */
import assert from 'node:assert/strict';
import { after, beforeEach, describe, test } from 'node:test';

import { createJobHandlers } from '#server/background.ts';
import { createBuyerCleanup } from '#server/features/buyers/background.ts';
import { resendConfirmation } from '#server/features/subscribers/resend-confirmation.ts';
import { findSubscriber } from '#server/features/subscribers/queries/subscribers.ts';
import { hashAddress } from '#server/features/suppressions/address-hash.ts';

import { errorsOf, openBrowser, startBuyerService, type BuyerBrowser } from '../buyer-steps.ts';
import { startTestService, type TestService } from '../harness.ts';
import { DAY_MS, HOUR_MS } from '../test-clock.ts';

const service = await startBuyerService();
const { clock, context, pool } = service;
const stop = new AbortController();
after(() => stop.abort());

/** The same service after a restart: its counters are empty. */
const restart = (): Promise<TestService> =>
  startTestService({ beside: service, mail: context.mail, mailFrom: 'shop@example.com' });

let buyers = 0;

async function openBuyer() {
  const email = `bombed${(buyers += 1)}@example.com`;
  return { email, ...(await service.issue({ customerEmail: email })) };
}

const askFor = (email: string, of: TestService = service) =>
  openBrowser(of).submit('/my/email', { email });

/** Requests as many codes as an hour allows; returns how many that were. */
async function fillHour(email: string): Promise<number> {
  for (let count = 0; ; count += 1) {
    if ((await askFor(email)).status === 429) return count;
  }
}

describe('codes for an address', () => {
  test('are at most 40 in a day, known or not, also after a restart and the clean-up', async () => {
    const { email } = await openBuyer();
    for (const address of [email, 'unknown@example.com']) {
      await pool.query('truncate buyer_codes');
      assert.deepEqual([await fillHour(address), await fillHour(address)], [20, 0]);
      clock.advance(2 * HOUR_MS);
      await createBuyerCleanup({ pool, clock }).run(stop.signal);
      assert.equal(await fillHour(address), 20);
      clock.advance(2 * HOUR_MS);
      const refused = await askFor(address, await restart());
      assert.deepEqual(
        [refused.status, refused.headers.get('retry-after')],
        [429, String((20 * HOUR_MS) / 1_000)],
      );
      assert.match(errorsOf(refused)[0] ?? '', / try again in 20 hours\.$/u);
      clock.advance(20 * HOUR_MS);
      assert.equal(await fillHour(address), 20);
    }
  });

  test('keep the address for an hour after they expired, and count for a day', async () => {
    const { email } = await openBuyer();
    await askFor(email);
    const sizes = async () => {
      await createBuyerCleanup({ pool, clock }).run(stop.signal);
      const { rows } = await pool.query('select length(email_sealed) as size from buyer_codes');
      return rows.map(({ size }) => size > 0);
    };
    assert.deepEqual(await sizes(), [true]);
    clock.advance(1.5 * HOUR_MS);
    assert.deepEqual(await sizes(), [false]);
    clock.advance(DAY_MS);
    assert.deepEqual(await sizes(), []);
  });
});

describe('keys to the owner of a license', () => {
  test('are mailed at most ten times a day, also after a restart', async () => {
    const { licenseKey } = await openBuyer();
    const ask = async (browser: BuyerBrowser): Promise<number> => {
      assert.equal((await browser.submit('/my/key', { key: licenseKey })).status, 200);
      return (await browser.submit('/my/keys', {})).status;
    };
    const statuses: number[] = [];
    for (let hour = 0; hour < 13; hour += 1) {
      statuses.push(await ask(openBrowser(service)));
      clock.advance(HOUR_MS);
    }
    const expected = [...Array.from({ length: 10 }, () => 200), 429, 429, 429];
    assert.deepEqual(statuses, expected);
    assert.equal(await ask(openBrowser(await restart())), 429);
    clock.advance(11 * HOUR_MS);
    assert.equal(await ask(openBrowser(service)), 200);
  });
});

async function subscribe(email: string): Promise<void> {
  const answer = await service.post('/api/v1/subscribers', { email });
  assert.equal(answer.status, 201, answer.text);
}

/** Runs one job of a confirmation. */
async function runJob(payload: unknown): Promise<void> {
  const handlers = createJobHandlers(context);
  const handler = handlers.find(({ name }) => name === 'send_confirmation') ?? assert.fail();
  await handler.run(payload, stop.signal);
}

/** Runs the queued jobs, all at once; returns the recipients of their e-mails. */
async function send(): Promise<string[]> {
  const { rows } = await pool.query<{ payload: unknown }>(
    `delete from jobs where name = 'send_confirmation' returning payload`,
  );
  const before = (await service.readMails()).length;
  await Promise.all(rows.map(({ payload }) => runJob(payload)));
  return (await service.readMails()).slice(before).map(({ to }) => to.address);
}

describe('confirmations of the newsletter', () => {
  beforeEach(() => pool.query('truncate subscribers, subscriber_confirmations, suppressions'));

  test('are at most five in a day for a mailbox and all its sub-addresses', async () => {
    for (let count = 1; count <= 6; count += 1) await subscribe(`Victim+${count}@example.com`);
    for (const name of ['v.ictim', 'v.i.ctim', 'V.I.C.tim', 'vic.tim+x', 'v.i.c.t.i.m', 'vict.im'])
      await subscribe(`${name}@example.com`);
    assert.equal((await send()).length, 5);
    await subscribe('victim@example.com');
    await subscribe('victim+1+2@example.com');
    await subscribe('other@example.com');
    await subscribe('victim.other@example.com');
    assert.deepEqual((await send()).sort(), ['other@example.com', 'victim.other@example.com']);
    const hash = hashAddress(context.vault, 'victim@example.com');
    const refused = await findSubscriber(pool, hash);
    assert.equal(refused?.confirmationProblem, 'mailbox_limit');

    clock.advance(DAY_MS - 1);
    await subscribe('victim@example.com');
    assert.deepEqual(await send(), []);
    clock.advance(1);
    await subscribe('victim@example.com');
    assert.deepEqual(await send(), ['victim@example.com']);
    assert.equal((await findSubscriber(pool, hash))?.confirmationProblem, null);
  });

  test('are not sent again by an operator beyond that', async () => {
    for (let count = 1; count <= 5; count += 1) await subscribe(`carl+${count}@example.com`);
    assert.equal((await send()).length, 5);
    clock.advance(HOUR_MS);
    await subscribe('carl@example.com');
    await send();
    clock.advance(HOUR_MS);
    const again = resendConfirmation(context, {
      email: 'carl@example.com',
      actor: 'test',
      reason: 'asked',
    });
    await assert.rejects(again, { code: 'rate_limited', headers: { 'retry-after': '79200' } });
  });

  test('that the relay does not take are repeated, and count once', async () => {
    service.failMails({ outcome: 'temporary', reason: 'smtp_451', reply: null });
    const payload = { addressHash: hashAddress(context.vault, 'dora@example.com') };
    await subscribe('dora@example.com');
    for (let tries = 0; tries < 6; tries += 1) {
      await assert.rejects(runJob(payload), /did not accept/);
    }
    service.failMails(null);
    assert.deepEqual(await send(), ['dora@example.com']);
  });
});
