/** What operators see of the e-mails to owners of licenses. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { createBuyerCleanup } from '#server/features/buyers/background.ts';
import { addJobs } from '#server/jobs/add-jobs.ts';

import { codeOf, openBrowser, signInByEmail, startBuyerService } from '../buyer-steps.ts';
import { activate } from '../license-steps.ts';
import { openBrowser as openOperator } from '../operator-steps.ts';
import { TEST_START } from '../test-clock.ts';
import { problem, readBody, readItems } from './bodies.ts';

const MAILS = '/api/v1/admin/mails';

const service = await startBuyerService();
const operator = await openOperator(service, 'support');

let buyers = 0;

async function openBuyer() {
  const email = `Owner${(buyers += 1)}@example.com`;
  const { license, licenseKey } = await service.issue({ customerEmail: email });
  return { email, license, licenseKey, path: `/my/licenses/${license.id}` };
}

async function askFor(email: string) {
  const answer = await openBrowser(service).submit('/my/email', { email });
  assert.equal(answer.status, 200);
}

const list = async (email: string) =>
  readItems((await operator.get(`${MAILS}?search=${email.toLowerCase()}`)).body);

const statesOf = async (email: string) =>
  (await list(email)).map(({ template, state, reason }) => [template, state, reason]);

describe('the log of mails', () => {
  test('shows a code that was sent, and not the code itself', async () => {
    const { email } = await openBuyer();
    await askFor(email);
    const code = codeOf((await service.readMails())[0]);
    const [item] = await list(email);
    const { id, ...rest } = item ?? {};
    assert.deepEqual(rest, {
      kind: 'owner',
      state: 'sent',
      reason: null,
      recipient: email,
      template: 'buyer_code',
      language: 'en',
      created_at: TEST_START.toISOString(),
      sent_at: TEST_START.toISOString(),
    });
    const shown = await operator.get(`${MAILS}/${encodeURIComponent(String(id))}`);
    assert.equal(readBody(shown.body)['summary'], 'The mail relay accepted it.');
    const { rows } = await service.pool.query<{ line: string }>(
      'select mail::text as line from owner_emails mail',
    );
    const seen = `${shown.text}\n${rows.map(({ line }) => line).join('\n')}`;
    for (const secret of [code, code.replace(' ', '')]) assert.ok(!seen.includes(secret));
  });

  test('shows nothing of an address that no license has', async () => {
    await askFor('nobody@example.com');
    await service.readMails();
    assert.deepEqual(await list('nobody@example.com'), []);
  });

  test('shows a freed machine, and a key that was sent again', async () => {
    const { email, licenseKey, path } = await openBuyer();
    const { activation_id: id } = await activate(service, licenseKey);
    const browser = openBrowser(service);
    await signInByEmail(service, browser, email);
    await browser.submit(`${path}/machines/${id}`, {});
    await browser.submit('/my/keys', {});
    await service.readMails();
    const templates = new Set((await statesOf(email)).map(([template]) => template));
    assert.deepEqual(templates, new Set(['buyer_code', 'key', 'machine_freed']));
  });

  test('shows why a mail waits or failed, and its success later', async () => {
    const { email } = await openBuyer();
    await askFor(email);
    service.failMails({ outcome: 'temporary', reason: 'smtp_451', reply: null });
    const { rows } = await service.pool.query<{ hash: string }>(
      `select payload ->> 'tokenHash' as hash from jobs where name = 'send_buyer_code'`,
    );
    const payload = { tokenHash: rows[0]?.hash ?? '' };
    await assert.rejects(service.readMails(), /did not accept the e-mail: smtp_451/u);
    assert.deepEqual(await statesOf(email), [['buyer_code', 'queued', 'smtp_451']]);
    service.failMails(null);
    await addJobs(service.pool, [{ name: 'send_buyer_code', payload, key: payload.tokenHash }]);
    await service.readMails();
    assert.deepEqual(await statesOf(email), [['buyer_code', 'sent', null]]);
    service.failMails({ outcome: 'permanent', reason: 'smtp_550', reply: null });
    await askFor(email);
    await service.readMails();
    const failed = readItems(
      (await operator.get(`${MAILS}?kind=owner&state=failed&search=${email}`)).body,
    );
    assert.deepEqual(
      failed.map(({ reason }) => reason),
      ['smtp_550'],
    );
  });

  test('sends none of them again', async () => {
    const { email } = await openBuyer();
    await askFor(email);
    await service.readMails();
    const [item] = await list(email);
    const path = `${MAILS}/${encodeURIComponent(String(item?.['id']))}/resend`;
    const { status, body } = await operator.post(path, { reason: 'it did not arrive' });
    const detail = 'Codes and notices are not sent again; send a key from its license.';
    assert.deepEqual([status, body], [409, problem('not_possible', { detail })]);
  });

  test('is deleted after 30 days', async () => {
    const { email } = await openBuyer();
    await askFor(email);
    await service.readMails();
    const cleanUp = async (days: number) => {
      service.clock.set(new Date(TEST_START.getTime() + days * 86_400_000));
      await createBuyerCleanup(service.context).run(AbortSignal.timeout(10_000));
      const { rows } = await service.pool.query('select from owner_emails where email = $1', [
        email,
      ]);
      return rows.length;
    };
    assert.deepEqual([await cleanUp(30), await cleanUp(30.1)], [1, 0]);
  });
});
