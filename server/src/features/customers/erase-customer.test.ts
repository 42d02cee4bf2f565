import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, test } from 'node:test';

import { startTestService, TEST_WEBHOOK_SECRETS } from '../../../test/harness.ts';
import { activate } from '../../../test/license-steps.ts';
import {
  paddleCustomer,
  paddleEvent,
  paddleTransactionCompleted,
} from '../../../test/payment-providers/paddle-events.ts';
import { paddleAdjustment } from '../../../test/payment-providers/paddle-adjustments.ts';
import {
  deliverPaddle,
  createPaddlePurchase,
} from '../../../test/payment-providers/paddle-steps.ts';
import {
  stripeCheckoutCompleted,
  stripeDelivery,
} from '../../../test/payment-providers/stripe-events.ts';
import { addJobs } from '#server/jobs/add-jobs.ts';
import { addEndpoint } from '../outgoing-webhooks/add-endpoint.ts';
import { recordOwnerEmail } from '../key-emails/owner-email-queries.ts';
import { insertMessages } from '../outreach/queries/messages.ts';
import { insertRecipients } from '../outreach/queries/recipients.ts';
import { hashAddress } from '../suppressions/address-hash.ts';
import { eraseCustomer } from './erase-customer.ts';
import { exportCustomer, readPersonalData } from './personal-data.ts';
import { listColumns } from './inventory.fixture.ts';

const ADA = 'Ada.Lovelace@Example.com';
/** A text that only the spellings of her name and address contain. */
const TRACE = 'lovelace';
const BOB = 'bob@example.com';
const INSTALL = randomUUID();
const noneShared = { keptInstalls: 0, keptMachines: 0 };
const by = { actor: 'cli:test', reason: 'requested by the customer' };

const service = await startTestService();
const { context, clock, pool } = service;
const ada = createPaddlePurchase();
const bob = createPaddlePurchase();
let licenseKey = '';

async function buy(purchase: ReturnType<typeof createPaddlePurchase>, email: string, name: string) {
  await deliverPaddle(service, paddleCustomer('created', { ...purchase, email, name }));
  await deliverPaddle(service, paddleTransactionCompleted(purchase.once));
}

async function buyAtStripe(email: string, id: string): Promise<void> {
  const event = stripeCheckoutCompleted({
    email,
    checkoutId: `cs_${id}`,
    paymentIntentId: `pi_${id}`,
    object: { customer_details: { email, name: email.split('@')[0], phone: null } },
  });
  const [secret = ''] = TEST_WEBHOOK_SECRETS.stripe;
  const { body, headers } = stripeDelivery(event, { secret, at: clock.now() });
  const answer = await service.post('/api/v1/webhooks/stripe', body, headers);
  assert.equal(answer.status, 200, answer.text);
}

/** Inserts rows that are hard to create through billing in this test. */
async function insertRest(email: string, name: string, transactionId: string): Promise<void> {
  await pool.query(
    `insert into billing_events (event_id, provider, type, occurred_at, received_at, raw, headers, status, message)
     values ($1, 'paddle', 'x', now(), now(), convert_to($2, 'UTF8'), '{}', 'ignored', 'dismissed: ' || $3)`,
    [`evt_unknown_${transactionId}`, `{"buyer":"${name} <${email}>"}`, email],
  );
  const addressHash = context.vault.hashText('email', email.toLowerCase());
  await pool.query(
    `insert into key_emails (transaction_id, provider, state, address_hash, created_at)
     values ($1, 'paddle', 'sent', $2, now())
     on conflict (transaction_id, provider) do update set address_hash = excluded.address_hash`,
    [transactionId, addressHash],
  );
  await pool.query(
    `insert into billing_repairs (transaction_id, provider, repair_id, occurred_at, fact)
     values ($1, 'stripe', gen_random_uuid(), now(), jsonb_build_object('repair', 'address', 'email', $2::text))`,
    [`unknown_${transactionId}`, email],
  );
  const subscription = `insert into billing_subscriptions
     (subscription_id, provider, event_id, customer_id, occurred_at, fact)
     select $1, 'stripe', $1, null, now(), jsonb_build_object('kind', 'subscription', 'customer',
       jsonb_build_object('email', $2::text, 'name', $3::text, 'locale', 'en'))`;
  await pool.query(subscription, [`sub_${transactionId}`, email, name]);
}

async function write(email: string): Promise<void> {
  const answer = await service.post('/api/v1/subscribers', { email });
  assert.equal(answer.status, 201, answer.text);
  const message = {
    addressHash: hashAddress(context.vault, email),
    messageId: '<1@x>',
    error: null,
  };
  const group = { requestId: randomUUID(), template: 'personal', language: 'en' };
  await insertMessages(pool, { ...group, createdAt: clock.now() }, [message]);
  const campaign = { id: randomUUID(), name: 'Version 2', now: clock.now() };
  const name = email.split('@')[0] ?? null;
  const code = {
    messageToken: `code-${email}`,
    template: 'buyer_code',
    language: 'en',
    email,
  } as const;
  await recordOwnerEmail(pool, code, { outcome: 'sent', messageId: '<3@x>' }, true, clock.now());
  const recipient = { ...message, position: 0, email, name, language: 'en', messageId: '<2@x>' };
  await insertRecipients(pool, campaign, [recipient]);
}

before(async () => {
  await addEndpoint(
    context,
    { url: 'https://crm.example.com/', eventTypes: [], description: null },
    by,
  );
  context.eventSubscriptions.invalidate();
  await buy(ada, ADA, 'Ada Lovelace');
  await buy(bob, BOB, 'Bob Example');
  await buyAtStripe(ADA.toUpperCase(), 'ada');
  await buyAtStripe(BOB, 'bob');
  await deliverPaddle(
    service,
    paddleEvent('address.created', { customer_id: ada.customerId, first_line: 'Lovelace Lane 1' }),
  );
  await insertRest(ADA, 'Ada Lovelace', ada.transactionId);
  await insertRest(BOB, 'Bob Example', bob.transactionId);
  for (const email of [ADA, BOB]) await write(email);
  const note = 'knows Ada Lovelace';
  const issued = await service.issue({ customerEmail: ADA.toLowerCase(), note });
  ({ licenseKey } = issued);
  const { activation_id: activationId } = await activate(service, licenseKey);
  await pool.query('update activations set install_id = $1 where id = $2', [INSTALL, activationId]);
  const events = [
    { event_id: randomUUID(), name: 'opened', occurred_at: clock.now().toISOString() },
  ];
  const batch = { install_id: INSTALL, session_id: randomUUID(), app_version: '1', events };
  assert.equal((await service.post('/api/v1/events', batch)).status, 200);
  const { provider, customerId } = { provider: 'paddle', customerId: ada.customerId };
  await addJobs(pool, [{ name: 'look_up_customer', payload: { provider, customerId } }]);
  // An endpoint that repeats in its answer what it received.
  await pool.query(
    `insert into webhook_attempts (message_id, endpoint_id, attempted_at, status, duration_ms, error, answer)
     select message_id, endpoint_id, now(), 400, 1, 'answered 400', payload
     from webhook_deliveries join webhook_messages on id = message_id`,
  );
});

/** Dumps every row of every table as text, with decoded bodies. */
async function dump(): Promise<{ table: string; row: string }[]> {
  const { rows: tables } = await pool.query(
    `select format('%I.%I', schemaname, relname) as name, relname from pg_stat_user_tables order by 1`,
  );
  const dumped = [];
  for (const { name, relname } of tables) {
    const body = relname === 'billing_events' ? ` || coalesce(encode(raw, 'escape'), '')` : '';
    const { rows } = await pool.query(`select held::text${body} as row from ${name} as held`);
    dumped.push(...rows.map(({ row }) => ({ table: relname, row: String(row).toLowerCase() })));
  }
  return dumped;
}

const about = async (word: string) => (await dump()).filter(({ row }) => row.includes(word));

test('an erasure removes the person’s data from every table, after show and export, and keeps others’ data', async (t) => {
  await t.test(
    'every column that is classified as personal contains the person before',
    async () => {
      for (const column of listColumns('person')) {
        const [table = '', name = ''] = column.split('.');
        const text = name === 'raw' ? `encode(raw, 'escape')` : `${name}::text`;
        const { rows } = await pool.query(
          `select count(*)::integer as rows from ${table} where lower(${text}) like '%${TRACE}%'`,
        );
        assert.ok(rows[0].rows > 0, `no row of ${column} names her: add one to this test`);
      }
    },
  );
  const bobsBefore = await about('bob');
  const held = await readPersonalData(context, ADA);

  await t.test(
    'show and export contain every row that names her, and no row of others',
    async () => {
      const found = (await about(TRACE)).map(({ table }) => table);
      const [lists, parts] = [new Map(Map.groupBy(found, (table) => table)), [] as string[]];
      for await (const part of exportCustomer(context, ADA, held)) parts.push(part);
      const text = parts.join('');
      const exported = JSON.parse(text);
      assert.ok(lists.size >= 7, [...lists.keys()].join(' '));
      for (const [table, rows] of lists) {
        assert.ok(exported[table].length >= rows.length, `${table}: ${exported[table].length}`);
      }
      assert.equal(exported.installs[0].events.length, 1);
      assert.equal(exported.billing_events.length, 5);
      assert.doesNotMatch(text, /bob|key_sealed|entitlement_proof/iu);
    },
  );

  const result = await eraseCustomer(context, held, { ...by, revoke: false });
  assert.deepEqual(result, {
    licenses: 3,
    removedBodies: 5,
    keptBodies: 0,
    ...noneShared,
    archives: [],
  });

  await t.test('no row of any table names her', async () => {
    assert.deepEqual(await about(TRACE), []);
    assert.deepEqual(
      await about(INSTALL),
      (await about(INSTALL)).filter(({ table }) => /activ|audit/u.test(table)),
    );
    const hash = context.vault.hashText('email', ADA.toLowerCase());
    assert.deepEqual(await about(hash), []);
    const tables = (await about(hashAddress(context.vault, ADA))).map(({ table }) => table);
    assert.deepEqual(tables, ['suppressions']);
    assert.deepEqual(
      (await about(ada.customerId)).filter(({ table }) => table === 'jobs'),
      [],
    );
  });
  await t.test('keeps the data of others unchanged', async () => {
    assert.deepEqual(await about('bob'), bobsBefore);
  });
  await t.test('her licenses stay valid, and later events change them', async () => {
    const body = { license_key: licenseKey, machine_fingerprint: { machine_id: 'm' } };
    assert.notEqual((await service.post('/api/v1/licenses/validate', body)).status, 500);
    const { transactionId, customerId } = ada;
    await deliverPaddle(service, paddleAdjustment('created', { transactionId, customerId }));
    const { rows } = await pool.query(
      `select refunded_at is not null as refunded, customer_email from licenses
       join billing_licenses on license_id = id where transaction_id = $1`,
      [transactionId],
    );
    assert.deepEqual(rows, [{ refunded: true, customer_email: null }]);
  });
  await t.test('an event from before the erasure restores no data, a later one does', async () => {
    const { customerId } = ada;
    const find = async () => {
      const sql = 'select email from billing_customers where customer_id = $1';
      return (await pool.query(sql, [customerId])).rows;
    };
    const late = new Date(clock.now().getTime() - 60_000);
    await deliverPaddle(
      service,
      paddleCustomer('updated', { customerId, email: ADA, occurredAt: late }),
    );
    assert.deepEqual(await find(), [{ email: null }]);
    clock.advance(60_000);
    const email = 'ada@new.example.com';
    await deliverPaddle(
      service,
      paddleCustomer('updated', { customerId, email, occurredAt: clock.now() }),
    );
    assert.deepEqual(await find(), [{ email }]);
  });
  await t.test('audit rows name the address by its id, and each license', async () => {
    const { rows } = await pool.query(
      `select subject_id from audit_log where action = 'customer.erase' order by subject_id`,
    );
    const expected = [held.person.address.id, ...held.person.licenseIds].toSorted();
    assert.deepEqual(
      rows.map(({ subject_id: id }) => id),
      expected,
    );
  });
});

test('an erasure keeps and reports the body of an event that was not applied', async () => {
  const email = 'carol@example.com';
  await pool.query(
    `insert into billing_events (event_id, provider, type, occurred_at, received_at, raw, headers, status)
     values ('evt_failed', 'paddle', 'x', now(), now(), convert_to($1, 'UTF8'), '{}', 'failed')`,
    [JSON.stringify({ email })],
  );
  const erase = async () =>
    eraseCustomer(context, await readPersonalData(context, email), { ...by, revoke: false });
  assert.deepEqual(await erase(), {
    licenses: 0,
    removedBodies: 0,
    keptBodies: 1,
    ...noneShared,
    archives: [],
  });
  await pool.query(`update billing_events set status = 'ignored' where event_id = 'evt_failed'`);
  assert.deepEqual(await erase(), {
    licenses: 0,
    removedBodies: 1,
    keptBodies: 0,
    ...noneShared,
    archives: [],
  });
});

test('an erasure with revoke revokes the licenses, and sends the address to no endpoint', async () => {
  const email = 'dora@example.com';
  const { license } = await service.issue({ customerEmail: email });
  await eraseCustomer(context, await readPersonalData(context, email), { ...by, revoke: true });
  const { rows } = await pool.query(
    `select type, payload like '%dora%' as named from webhook_messages where license_id = $1 order by created_at, id`,
    [license.id],
  );
  assert.deepEqual(rows, [
    { type: 'license.created', named: false },
    { type: 'license.status_changed', named: false },
  ]);
});
