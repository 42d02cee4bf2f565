import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';

import { toAddress } from '#server/features/customers/find-person.ts';
import { toMachineKey } from '#server/features/usage/machine-key.ts';

import { buyLicense, listAudit, sendEvents } from '../customer-steps.ts';
import { startTestService } from '../harness.ts';
import { openBrowser } from '../operator-steps.ts';
import { TEST_START } from '../test-clock.ts';
import { problem, readAnswer, readBody, readList, validationErrorsOf } from './bodies.ts';

const CUSTOMER = '/api/v1/admin/customer';

const service = await startTestService();
const { context, pool } = service;
const viewer = await openBrowser(service, 'viewer');
const support = await openBrowser(service, 'support');
const admin = await openBrowser(service, 'admin');

/** Makes exports wait, without the limit of the service for locks. */
async function holdExports(): Promise<AsyncDisposable> {
  await pool.query(`
    create or replace function hold_export() returns trigger language plpgsql set lock_timeout = 0 as
      $$ begin perform pg_advisory_xact_lock_shared(4711); return new; end $$;
    create or replace trigger hold_export before insert on audit_log
      for each row when (new.action = 'customer.export') execute function hold_export()`);
  const lock = await pool.connect();
  await lock.query('begin; select pg_advisory_xact_lock(4711)');
  let released: Promise<void> | undefined;
  const release = (): Promise<void> => {
    released ??= lock.query('rollback').then(() => lock.release());
    return released;
  };
  return { [Symbol.asyncDispose]: release };
}

async function show(email: string) {
  return readAnswer(await viewer.get(`${CUSTOMER}?${new URLSearchParams({ email }).toString()}`));
}

describe('GET /api/v1/admin/customer', () => {
  test('shows licenses, payments, machines and newsletter of an address in any case', async () => {
    const { email, licenseId, machineId, installId, transactionId } = await buyLicense(service);
    await pool.query(
      `insert into key_emails (transaction_id, provider, state, created_at, sent_at) values ($1, 'paddle', 'sent', $2, $2)
       on conflict (transaction_id, provider) do nothing`,
      [transactionId, TEST_START],
    );
    const found = await show(email.toUpperCase());
    assert.deepEqual(
      readList(found['licenses']).map(({ id, status }) => [id, status]),
      [[licenseId, 'active']],
    );
    assert.deepEqual(
      readList(found['payments']).map((row) => [
        row['transaction_id'],
        row['origin'],
        row['currency'],
      ]),
      [[transactionId, 'purchase', 'USD']],
    );
    assert.deepEqual(
      readList(found['machines']).map((row) => [
        row['machine_id'],
        row['install_id'],
        row['is_active'],
      ]),
      [[machineId, installId, true]],
    );
    assert.deepEqual(
      readList(found['mails']).map(({ id, kind }) => [id, kind]),
      [[transactionId, 'keys']],
    );
    assert.equal(readList(found['accounts']).length, 1);
    assert.equal(readBody(found['newsletter'])['confirmed_at'], TEST_START.toISOString());
    assert.deepEqual([found['suppressed'], found['changes']], [null, []]);
    assert.doesNotMatch(JSON.stringify(found), /license_key|components|digest/u);
  });

  test('shows empty lists for an unknown address', async () => {
    const found = await show(`nobody-${randomUUID()}@example.com`);
    for (const name of ['licenses', 'payments', 'machines', 'mails', 'subscriptions', 'accounts']) {
      assert.deepEqual(found[name], [], name);
    }
    assert.equal(found['newsletter'], null);
  });

  test('422 for a text that is no address', async () => {
    const answer = await viewer.get(`${CUSTOMER}?email=ada`);
    assert.deepEqual(
      [answer.status, validationErrorsOf(answer.body)[0]?.[0]],
      [422, 'query.email'],
    );
  });
});

describe('POST /api/v1/admin/customer/export', () => {
  test('sends all data as a file after an audit entry', async () => {
    const { email, installId } = await buyLicense(service);
    await sendEvents(service, installId, ['opened']);
    const reason = 'request of 3 May';
    const answer = await support.post(`${CUSTOMER}/export`, { email, reason });
    const data = readAnswer(answer);
    assert.equal(answer.headers.get('content-disposition'), 'attachment; filename="customer.json"');
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    assert.equal(data['address'], email);
    assert.equal(readList(data['licenses']).length, 1);
    assert.equal(readList(readList(data['installs'])[0]?.['events']).length, 1);
    const { id } = toAddress(context.vault, email);
    const actor = `operator:${support.email}`;
    assert.deepEqual(await listAudit(service, id), [{ actor, action: 'customer.export', reason }]);
    assert.deepEqual(
      readList((await show(email))['changes']).map(({ action }) => action),
      ['customer.export'],
    );
  });

  test('contains an answer of an endpoint only if it has the address', async () => {
    const { email } = await buyLicense(service);
    const id = randomUUID();
    await pool.query(
      `insert into webhook_messages (id, type, license_id, payload, created_at)
       values ($1, 'license.issued', $2, $3, now())`,
      [id, randomUUID(), JSON.stringify({ data: { customer_email: email } })],
    );
    const repeated = `unknown customer ${email.toUpperCase()}`;
    for (const [minute, answer] of [repeated, 'page of an internal host'].entries()) {
      await pool.query(
        `insert into webhook_attempts (message_id, endpoint_id, attempted_at, status, duration_ms, error, answer)
         values ($1, $2, $3, 400, 1, 'answered 400', $4)`,
        [id, randomUUID(), new Date(TEST_START.getTime() + minute * 60_000), answer],
      );
    }
    const exported = await support.post(`${CUSTOMER}/export`, { email, reason: 'a test' });
    const attempts = readList(readAnswer(exported)['webhook_attempts']);
    assert.deepEqual(new Set(attempts.map(({ answer }) => answer)), new Set([null, repeated]));
    assert.ok(!exported.text.includes('internal'));
  });

  test('reads for one export at a time; 503 while four wait', async () => {
    const { email } = await buyLicense(service);
    await using held = await holdExports();
    const calls = Array.from({ length: 6 }, () =>
      support.post(`${CUSTOMER}/export`, { email, reason: 'many' }),
    );
    const refused = await Promise.race(calls);
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '30']);
    await held[Symbol.asyncDispose]();
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 200).length, 5, String(statuses));
    const { id } = toAddress(context.vault, email);
    assert.equal((await listAudit(service, id)).length, 5, 'none for the refused one');
  });

  test('403 for a viewer, 422 without a reason', async () => {
    const refused = await viewer.post(`${CUSTOMER}/export`, {
      email: 'a@example.com',
      reason: 'x',
    });
    assert.deepEqual(
      [refused.status, refused.body],
      [403, problem('forbidden', { detail: 'This needs the role support.' })],
    );
    const invalid = await support.post(`${CUSTOMER}/export`, { email: 'a@example.com' });
    assert.deepEqual(validationErrorsOf(invalid.body), [['body.reason', 'missing']]);
  });
});

describe('POST /api/v1/admin/customer/erase', () => {
  test('plans, then erases the customer and keeps the license', async () => {
    const { email, licenseId, machineId } = await buyLicense(service);
    const plan = readAnswer(await admin.post(`${CUSTOMER}/plan-erasure`, { email }));
    const licenses = readList(plan['tables']).find(({ table }) => table === 'licenses');
    assert.deepEqual(licenses, {
      table: 'licenses',
      rows: 1,
      outcome: 'address, name and note deleted; still valid',
    });
    assert.equal(readList((await show(email))['licenses']).length, 1);

    const reason = 'request of 4 May';
    const erased = readAnswer(await admin.post(`${CUSTOMER}/erase`, { email, reason }));
    assert.deepEqual([erased['licenses'], erased['kept_bodies']], [1, 0]);
    const found = await show(email);
    assert.deepEqual([found['licenses'], found['accounts'], found['newsletter']], [[], [], null]);
    assert.equal(readBody(found['suppressed'])['reason'], 'erased');
    const { id } = toAddress(context.vault, email);
    const actor = `operator:${admin.email}`;
    assert.deepEqual(await listAudit(service, id), [{ actor, action: 'customer.erase', reason }]);
    const { rows } = await pool.query(
      'select customer_email, revoked_at from licenses where id = $1',
      [licenseId],
    );
    assert.deepEqual(rows, [{ customer_email: null, revoked_at: null }]);
    const usage = await pool.query('select from usage_days where machine_key = $1', [
      toMachineKey(context.vault, machineId),
    ]);
    assert.equal(usage.rowCount, 0);
  });

  test('revokes the licenses on demand', async () => {
    const { email, licenseId } = await buyLicense(service);
    const body = { email, reason: 'request of 5 May', revoke: true };
    readAnswer(await admin.post(`${CUSTOMER}/erase`, body));
    const { rows } = await pool.query('select revoked_at from licenses where id = $1', [licenseId]);
    assert.deepEqual(rows, [{ revoked_at: TEST_START }]);
  });

  test('403 for support', async () => {
    const body = { email: 'a@example.com', reason: 'x' };
    const { status } = await support.post(`${CUSTOMER}/erase`, body);
    assert.equal(status, 403);
  });
});
