import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { createPool } from '#server/db/pool.ts';
import { createLog } from '#server/log.ts';
import { createSmtpTransport } from '#server/mail/smtp-transport.ts';

import { eventually } from '../../../test/eventually.ts';
import { createExternalHome } from '../../../test/external-service.ts';
import { startTestService } from '../../../test/harness.ts';
import type { ServiceProcess } from '../../../test/service-process.ts';
import type { PaddleApi } from '../billing/providers/paddle/paddle-api.ts';
import {
  releaseEmailsWithoutMail,
  queueLookUpsWithoutAddress,
  createReleaseTask,
} from './requeue-emails.ts';

const mail = createSmtpTransport({ url: 'smtp://127.0.0.1:1', from: 'a@b.example', dkim: null });
const paddleApi: PaddleApi = { findCustomer: async () => null, listEvents: async () => [] };
const service = await startTestService();
const { context, pool } = service;

/** Inserts more than a page of waiting e-mails, each with its own customer. */
const COUNT = 2_345;

async function fill(reason: string): Promise<void> {
  await pool.query(
    `insert into key_emails (transaction_id, provider, state, reason, created_at)
     select 'txn_' || n, 'paddle', 'waiting', $2, now() from generate_series(1, $1) as n`,
    [COUNT, reason],
  );
  await pool.query(
    `insert into billing_payments (transaction_id, provider, event_id, customer_id, occurred_at, fact)
     select 'txn_' || n, 'paddle', 'evt_' || n, 'ctm_' || n, now(), '{}' from generate_series(1, $1) as n`,
    [COUNT],
  );
}

async function countQueued(name: string): Promise<number> {
  const { rows } = await pool.query(
    `select count(distinct key)::integer as count from jobs where key like $1`,
    [`${name}:paddle:%`],
  );
  return rows[0].count;
}

beforeEach(async () => {
  await pool.query('truncate key_emails, billing_payments, jobs');
});

test('queues all e-mails held without mail relay once there is one', async () => {
  await fill('no_mail');
  assert.equal(await releaseEmailsWithoutMail({ pool, mail: null }), 0);
  assert.equal(await releaseEmailsWithoutMail({ pool, mail }), COUNT);
  assert.equal(await countQueued('send_key_email'), COUNT);
  assert.equal(await releaseEmailsWithoutMail({ pool, mail }), 0);
});

test('queues look-ups of all buyers without an address once there is an API key', async () => {
  await fill('no_address');
  await pool.query(`update key_emails set provider = 'stripe' where transaction_id = 'txn_1'`);
  await pool.query(`update key_emails set state = 'sent' where transaction_id = 'txn_2'`);
  assert.equal(await queueLookUpsWithoutAddress({ pool, paddleApi: null }), 0);
  assert.equal(await queueLookUpsWithoutAddress({ pool, paddleApi }), COUNT - 2);
  assert.equal(await countQueued('look_up_customer'), COUNT - 2);
});

test('stops after the current page', async () => {
  await fill('no_mail');
  const aborting = new AbortController();
  const running = createReleaseTask({ ...context, mail, paddleApi }).run(aborting.signal);
  aborting.abort();
  await running;
  assert.equal(await countQueued('send_key_email'), 1_000);
});

test('queues held e-mails after the service listens', async () => {
  await using other = await createExternalHome();
  const settings = {
    LATCHKEY_SMTP_URL: 'smtp://127.0.0.1:1',
    LATCHKEY_MAIL_FROM: 'shop@example.com',
  };
  const database = createPool(
    { url: other.settings['DATABASE_URL'] ?? '' },
    { maxConnections: 1, log: createLog({ level: 'silent' }) },
  );
  const client = await database.connect();
  let running: ServiceProcess | undefined;
  try {
    await client.query('begin');
    await client.query('lock table key_emails in access exclusive mode');
    await client.query(
      `insert into key_emails values ('txn_1', 'paddle', 'waiting', 'no_mail', default, null, null, now())`,
    );
    running = await other.start(settings);
    await client.query('commit');
    await eventually(async () => {
      const { rows } = await client.query('select key from jobs');
      return rows.some(({ key }) => key === 'send_key_email:paddle:txn_1');
    });
  } finally {
    await running?.stop();
    client.release();
    await database.end();
  }
});
