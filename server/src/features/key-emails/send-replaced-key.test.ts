import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { MailMessage, SendResult } from '#server/mail/mail-transport.ts';

import { startTestService } from '../../../test/harness.ts';
import { activate, anyMachine, listMachines, validate } from '../../../test/license-steps.ts';
import { takeQueuedWork } from '../../../test/take-queued-work.ts';
import { DAY_MS, TEST_START } from '../../../test/test-clock.ts';
import { isKeyOf } from '../licenses/license-key.ts';
import { rekeyAndSend, sendReplacedKey } from './send-replaced-key.ts';

const sent: MailMessage[] = [];
let outcome: SendResult = { outcome: 'sent', messageId: 'm' };
const mail = {
  async send(message: MailMessage): Promise<SendResult> {
    sent.push(message);
    return outcome;
  },
  close() {},
};
const service = await startTestService({ mail, mailFrom: 'shop@example.com' });
const { context, pool } = service;
await pool.query(
  `insert into webhook_endpoints (id, url, secret_sealed, created_at)
   values (gen_random_uuid(), 'https://hooks.example.com/', '\\x00', now())`,
);

const change = { actor: 'test', reason: 'published', keepMachines: true, wantsMail: true };

async function ask(operation: string, body: object) {
  return service.post(`/api/v1/licenses/${operation}`, body);
}

describe('rekey', () => {
  test('invalidates the old key in every operation and keeps machines with the new key', async () => {
    const { license, licenseKey: oldKey } = await service.issue({
      customerEmail: 'ann@example.org',
    });
    const machine = anyMachine();
    const { activation_id: id } = await activate(service, oldKey, machine);
    const { licenseKey: newKey, machines } = await rekeyAndSend(context, {
      ...change,
      keyOrId: oldKey,
    });
    assert.equal(machines, 1);
    assert.notEqual(newKey, oldKey);

    const old = await validate(service, oldKey, id, machine.machine_id);
    assert.deepEqual(
      [old.valid, old.status, old.reason, old.entitlement],
      [false, 'invalid', 'license_not_found', null],
    );
    const asked = [
      await ask('activate', { license_key: oldKey, machine_fingerprint: machine }),
      await ask('deactivate', {
        license_key: oldKey,
        activation_id: id,
        machine_id: machine.machine_id,
      }),
      await service.get(`/api/v1/licenses/${oldKey}/activations`),
    ];
    assert.deepEqual(
      asked.map(({ status }) => status),
      [404, 404, 404],
    );

    assert.equal((await validate(service, newKey, id, machine.machine_id)).valid, true);
    assert.equal((await activate(service, newKey, machine)).activation_id, id);
    assert.equal(
      await pool
        .query('select from license_keys where license_id = $1', [license.id])
        .then(({ rowCount }) => rowCount),
      1,
    );
  });

  test('deactivates all machines when asked, and records event and audit row', async () => {
    const { license, licenseKey: oldKey } = await service.issue();
    for (let count = 0; count < 2; count++) await activate(service, oldKey, anyMachine());
    await takeQueuedWork(pool);
    const rekeyed = await rekeyAndSend(context, {
      ...change,
      keyOrId: license.id,
      keepMachines: false,
    });
    assert.deepEqual([rekeyed.machines, rekeyed.mail], [2, 'no_address']);
    const machines = await listMachines(service, rekeyed.licenseKey);
    assert.deepEqual(
      machines.map((machine) => machine.is_active),
      [false, false],
    );
    const { rows: messages } = await pool.query(
      `select payload::json -> 'data' as data from webhook_messages where type = 'license.key_replaced'`,
    );
    assert.deepEqual(
      messages.map(({ data }) => [data.license_id, data.key_hint, data.previous_key_hint]),
      [[license.id, rekeyed.licenseKey.slice(-4), oldKey.slice(-4)]],
    );
    assert.deepEqual(await takeQueuedWork(pool), {
      messages: ['activation.removed', 'activation.removed', 'license.key_replaced'],
      jobs: [],
    });
    const { rows } = await pool.query(
      `select actor, reason, details from audit_log where subject_id = $1 and action = 'license.rekey'`,
      [license.id],
    );
    assert.deepEqual(rows, [
      {
        actor: 'test',
        reason: 'published',
        details: {
          previous_key_hint: oldKey.slice(-4),
          key_hint: rekeyed.licenseKey.slice(-4),
          machines_kept: 0,
          machines_dropped: 2,
        },
      },
    ]);
    assert.doesNotMatch(JSON.stringify(rows), new RegExp(oldKey, 'u'));
  });

  test('shows the new key by the checkout only within the reveal window', async () => {
    const facts = { reveal_until: new Date(TEST_START.getTime() + DAY_MS) };
    const { licenseKey: oldKey } = await service.issue({ transactionId: 'txn_1', facts });
    const { licenseKey } = await rekeyAndSend(context, { ...change, keyOrId: oldKey });
    const check = async () => (await service.get('/api/v1/licenses/check/txn_1')).text;
    assert.match(await check(), new RegExp(`"license_key":"${licenseKey}"`, 'u'));
    assert.doesNotMatch(await check(), new RegExp(oldKey, 'u'));
    service.clock.advance(DAY_MS);
    assert.match(await check(), /"license_key":null/u);
    service.clock.set(TEST_START);
  });

  test('changes nothing when a step fails, and finds no license by a key that was replaced', async () => {
    const { license, licenseKey } = await service.issue({ customerEmail: 'ann@example.org' });
    await pool.query(`alter table audit_log add constraint broken check (action <> 'license.rekey')
                      not valid`);
    await assert.rejects(rekeyAndSend(context, { ...change, keyOrId: licenseKey }), /broken/u);
    await pool.query('alter table audit_log drop constraint broken');
    assert.equal((await activate(service, licenseKey)).status, 'active');
    await rekeyAndSend(context, { ...change, keyOrId: licenseKey });
    await assert.rejects(rekeyAndSend(context, { ...change, keyOrId: licenseKey }), /no license/u);
    const { rows } = await pool.query('select key_sealed from licenses where id = $1', [
      license.id,
    ]);
    assert.equal(
      isKeyOf(context, { id: license.id, keySealed: rows[0].key_sealed }, licenseKey),
      false,
    );
  });
});

describe('sendReplacedKey', () => {
  test('is queued in the transaction, unless it is not wanted or cannot be sent', async () => {
    await takeQueuedWork(pool);
    const { license } = await service.issue({ customerEmail: 'ann@example.org' });
    const order = { ...change, keyOrId: license.id };
    assert.equal((await rekeyAndSend(context, { ...order, wantsMail: false })).mail, 'not_wanted');
    const withoutMail = {
      ...context,
      config: { ...context.config, mail: { ...context.config.mail, from: null } },
    };
    assert.equal((await rekeyAndSend(withoutMail, order)).mail, 'not_configured');
    assert.deepEqual((await takeQueuedWork(pool)).jobs, []);
    for (let count = 0; count < 2; count++) {
      assert.equal((await rekeyAndSend(context, order)).mail, 'queued');
    }
    assert.deepEqual((await takeQueuedWork(pool)).jobs, [`send_replaced_key:${license.id}`]);
  });

  test('sends the current key in the language of the buyer', async () => {
    const { license } = await service.issue({ customerEmail: 'ann@example.org' });
    await pool.query(`insert into billing_licenses values ('txn_fr', 'paddle', '0', $1)`, [
      license.id,
    ]);
    await pool.query(
      `insert into billing_payments (transaction_id, provider, event_id, occurred_at, fact)
       values ('txn_fr', 'paddle', 'evt', now(), '{"customer": {"locale": "fr-CA"}}')`,
    );
    const { licenseKey } = await rekeyAndSend(context, { ...change, keyOrId: license.id });
    sent.length = 0;
    const about = { licenseId: license.id, machinesKept: true, isRepeat: false };
    await sendReplacedKey(context, about);
    await sendReplacedKey(context, about);
    assert.equal(sent[0]?.to.address, 'ann@example.org');
    assert.match(sent[0]?.subject ?? '', /^Votre nouvelle clé/u);
    assert.match(sent[0]?.text ?? '', new RegExp(licenseKey, 'u'));
    assert.equal(sent[0]?.messageToken, sent[1]?.messageToken);
    assert.doesNotMatch(sent[0]?.messageToken ?? '', /example|LK-/u);
  });

  test('retries a temporary failure, and once after an unconfirmed attempt', async () => {
    const { license } = await service.issue({ customerEmail: 'ann@example.org' });
    const about = { licenseId: license.id, machinesKept: true, isRepeat: false };
    await takeQueuedWork(pool);
    outcome = { outcome: 'temporary', reason: 'smtp_450', reply: null };
    await assert.rejects(sendReplacedKey(context, about), /smtp_450/u);
    outcome = { outcome: 'unknown', reason: 'timeout', reply: null };
    await sendReplacedKey(context, about);
    assert.equal((await takeQueuedWork(pool)).jobs.length, 1);
    await sendReplacedKey(context, { ...about, isRepeat: true });
    assert.equal((await takeQueuedWork(pool)).jobs.length, 0);
    assert.match(service.log.at(-1) ?? '', /"event":"mail.replaced_key_failed"/u);
  });
});
