import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';

import { createSmtpTransport } from '#server/mail/smtp-transport.ts';

import { startTestService } from '../../../test/harness.ts';
import { readParts, startMailRelay } from '../../../test/mail-relay.ts';
import { openStandardShop } from '../../../test/payment-providers/standard-shop.ts';
import { runDueJobs } from '../../../test/run-due-jobs.ts';
import { testCatalog } from '../../../test/test-catalog.ts';
import { eraseCustomer } from '../customers/erase-customer.ts';
import { readPersonalData } from '../customers/personal-data.ts';
import { resendKeyEmails } from '../key-emails/requeue-emails.ts';
import { sendGiftNote } from '../key-emails/send-gift-note.ts';
import { sendKeyEmail } from '../key-emails/send-key-email.ts';

const CATALOG = testCatalog(`
key_prefix: LK
trial: { product: year }
products:
  - { id: year, name: Year, tier: year, max_activations: 2, duration_days: 365, prices: { standard: [year] } }
`);

const relay = await startMailRelay();
const mail = createSmtpTransport({ url: relay.url, from: 'Shop <shop@example.com>', dkim: null });
const service = await startTestService({ mail, catalog: CATALOG });
after(async () => {
  mail.close();
  await relay.close();
});

const { context, pool, clock } = service;
const shop = openStandardShop(service);

/** Buys a license; Ann pays. */
async function buy(transactionId: string, priceId: string, more: object = {}) {
  clock.advance(60_000);
  return shop.send('purchase.completed', {
    transaction_id: transactionId,
    customer: { id: 'c_ann', email: 'ann@example.com', name: 'Ann', locale: 'en' },
    lines: [{ price_id: priceId }],
    total: 1_000,
    ...more,
  });
}

function to(address: string) {
  return { custom_data: { gift_to: address, recipient_name: 'Bob' } };
}

/** Reads the owners of the licenses of a purchase, and its payer. */
async function readPeople(transactionId: string) {
  const { rows } = await pool.query<{ customer_email: string | null }>(
    `select l.customer_email, l.customer_name, payment.fact->'customer'->>'email' as payer
     from licenses l join billing_licenses b on b.license_id = l.id
     join billing_payments payment using (provider, transaction_id)
     where b.transaction_id = $1`,
    [transactionId],
  );
  return rows;
}

describe('a gift', () => {
  test('belongs to the recipient, also after the payer changes', async () => {
    const receipt = await buy('ord_gift', 'year', to('bob@example.com'));
    assert.deepEqual([receipt.status, receipt.message], ['processed', null]);
    await shop.send('customer.updated', { id: 'c_ann', email: 'ann@example.org', name: 'Ann' });
    const { rows } = await pool.query(
      `select customer_email, customer_name from licenses l join billing_licenses b on b.license_id = l.id
       where b.transaction_id = 'ord_gift'`,
    );
    assert.deepEqual(rows, [{ customer_email: 'bob@example.com', customer_name: 'Bob' }]);
    const sent = relay.mails.length;
    await sendKeyEmail(context, { provider: 'standard', transactionId: 'ord_gift' });
    assert.deepEqual(relay.mails[sent]?.to, ['bob@example.com']);
  });

  test('stays with the recipient when the payer is erased and another event of the payer arrives', async () => {
    const customer = { id: 'c_eve', email: 'eve@example.com', name: 'Eve', locale: 'en' };
    await buy('ord_eve', 'year', { customer, ...to('bob@example.com') });
    const erasure = { actor: 'test', reason: 'requested', revoke: false };
    await eraseCustomer(context, await readPersonalData(context, customer.email), erasure);
    clock.advance(60_000);
    await shop.send('customer.updated', { id: 'c_eve', email: 'eve@example.org', name: 'Eve' });
    const { rows } = await pool.query(
      `select l.customer_email, payment.fact->'customer'->>'email' as payer
       from licenses l join billing_licenses b on b.license_id = l.id
       join billing_payments payment using (provider, transaction_id)
       where b.transaction_id = 'ord_eve'`,
    );
    assert.deepEqual(rows, [{ customer_email: 'bob@example.com', payer: null }]);
  });

  test('never gets the address of the payer after the recipient was erased', async () => {
    const customer = { id: 'c_fay', email: 'fay@example.com', name: 'Fay', locale: 'en' };
    const gift = { customer, ...to('gil@example.com') };
    await buy('ord_fay', 'year', gift);
    const erasure = { actor: 'test', reason: 'requested', revoke: false };
    await eraseCustomer(context, await readPersonalData(context, 'gil@example.com'), erasure);
    const expected = [{ customer_email: null, customer_name: null, payer: 'fay@example.com' }];
    assert.deepEqual(await readPeople('ord_fay'), expected);
    clock.advance(60_000);
    await shop.send('customer.updated', { ...customer, id: 'c_fay', name: 'Fay F' });
    assert.deepEqual(await readPeople('ord_fay'), expected);
    await buy('ord_fay', 'year', gift);
    const owners = (await readPeople('ord_fay')).map(({ customer_email: email }) => email);
    assert.deepEqual(new Set(owners), new Set([null]));
  });

  test('notifies the payer once that the recipient got the key, without the key, in the language of the payer', async () => {
    const customer = { id: 'c_hal', email: 'hal@example.com', name: 'Hal', locale: 'de' };
    await buy('ord_hal', 'year', { customer, ...to('ida@example.com') });
    const [license] = await shop.check('ord_hal');
    const key = { provider: 'standard', transactionId: 'ord_hal' };
    const sent = relay.mails.length;
    const noted = () =>
      relay.mails.slice(sent).filter(({ to: [address] }) => address === 'hal@example.com');
    await sendKeyEmail(context, key);
    assert.equal(noted().length, 0);
    relay.script = { recipient: { code: 451, words: 'later' } };
    await assert.rejects(sendGiftNote(context, key), /did not accept it/u);
    relay.script = {};
    await runDueJobs(context);
    await sendGiftNote(context, key);
    await sendGiftNote(context, key);
    const [note, ...others] = noted();
    assert.ok(note !== undefined && others.length === 0);
    const parts = readParts(note);
    assert.match(parts, /Ihr Geschenk/u);
    assert.match(parts, /ida@example\.com/u);
    assert.ok(license?.license_key && !note.raw.includes(license.license_key));
    await resendKeyEmails(context, { which: key, actor: 'test', reason: null });
    await sendKeyEmail(context, key);
    await runDueJobs(context);
    assert.equal(noted().length, 1);
  });

  test('with an invalid address goes to the payer, and needs attention', async () => {
    const receipt = await buy('ord_bad_gift', 'year', to('bob at example'));
    assert.match(receipt.message ?? '', /recipient's address is invalid/);
    assert.equal((await shop.check('ord_bad_gift'))[0]?.status, 'active');
  });
});
