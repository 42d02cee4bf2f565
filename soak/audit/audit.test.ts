/** The auditor finds nothing on a database that holds what was acknowledged, and every contradiction. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { sealLicenseKey } from '#server/features/licenses/license-key.ts';
import { toMachineKey } from '#server/features/usage/machine-key.ts';
import { createVault } from '#server/lib/vault.ts';

import { credentialsOf } from '../../bench/lib/credentials.ts';
import { openTestPool } from '../../server/test/database-pool.ts';
import { testCatalog } from '../../server/test/test-catalog.ts';
import { Facts } from '../ledger/counters.ts';
import { KeyMails } from '../ledger/key-mails.ts';
import { createLedger, RECIPIENTS_OF_A_REQUEST, type Ledger } from '../ledger/ledger.ts';
import { hashKey } from '../ledger/uuids.ts';
import { idOfEvent, sizeOfBatch } from '../load/actors/events.ts';
import { addressOfSubscriber } from '../load/actors/mails.ts';
import { idOfPurchase } from '../load/actors/purchases.ts';
import { mapActivities } from '../plan/day-plan.ts';
import { audit } from './audit.ts';
import type { JobLoss } from './job-losses.ts';

const MACHINES = 100;
const MASTER_SECRET = 'a master secret for this test alone';

/** One license for each use: the first for a trial, the second for a purchase, the others for machines. */
const [TRIAL, BOUGHT] = [credentialsOf(1_000), credentialsOf(1_001)];

const INSERT_LICENSES = `
  insert into licenses (id, product_id, tier, features, max_activations, trial, key_sealed, key_hint, created_at)
  select id, 'personal', 'personal', '{}', 1, id = $2, '', 'X', now() from unnest($1::uuid[]) as id`;

const INSERT_ACTIVATIONS = `
  insert into activations (license_id, id, machine_id, components, machine_digest, activated_at, last_validated_at,
                           versions_reported_at, validation_count)
  select license_id, id, machine_id, '{}', machine_id, now(), now(), now(), 2
  from unnest($1::uuid[], $2::uuid[], $3::text[]) as machine (license_id, id, machine_id)`;

// One connection, so that a contradiction can be rolled back.
const pool = await openTestPool({ maxConnections: 1 });
const vault = createVault(MASTER_SECRET);
const PLAN = mapActivities(() => ({ total: 1, dueBefore: new Uint32Array() }));
const ledger = createLedger(PLAN, MACHINES);
await store();
record();

/** Stores what the ledger says. */
async function store(): Promise<void> {
  const machines = Array.from({ length: MACHINES }, (_, index) => credentialsOf(index));
  const licenses = [...machines, TRIAL, BOUGHT];
  await pool.query(INSERT_LICENSES, [licenses.map(({ licenseId }) => licenseId), TRIAL.licenseId]);
  await pool.query(INSERT_ACTIVATIONS, [
    licenses.map(({ licenseId }) => licenseId),
    licenses.map(({ activationId }) => activationId),
    [...machines.map(({ machineId }) => machineId), 'trial-machine', 'buyer-machine-0'],
  ]);
  await pool.query(
    `insert into usage_days (machine_key, day, first_at, last_at, beats) select key, now(), now(), now(), 3 from unnest($1::uuid[]) as key`,
    [machines.map(({ machineId }) => toMachineKey(vault, machineId))],
  );
  const events = Array.from({ length: sizeOfBatch(0) }, (_, position) => idOfEvent(0, position));
  await pool.query('create table events_of_the_test partition of events default');
  await pool.query(`insert into event_ids select id, now() from unnest($1::uuid[]) as id`, [
    events,
  ]);
  await pool.query(
    `insert into events (event_id, received_at, install_id, session_id, name, occurred_at, app_version)
     select id, now(), id, id, 'started', now(), '1' from unnest($1::uuid[]) as id`,
    [events],
  );
  const bought = [`txn_${idOfPurchase(0)}`, BOUGHT.licenseId];
  const { keyHash, keySealed } = sealLicenseKey(
    { catalog: testCatalog, vault },
    BOUGHT.licenseId,
    BOUGHT.licenseKey,
  );
  await pool.query(`insert into license_keys values (decode($1, 'hex'), $2)`, [
    keyHash,
    BOUGHT.licenseId,
  ]);
  await pool.query('update licenses set key_sealed = $1 where id = $2', [
    keySealed,
    BOUGHT.licenseId,
  ]);
  await pool.query(`insert into billing_licenses values ($1, 'paddle', '', $2)`, bought);
  await pool.query(
    `insert into key_emails (transaction_id, provider, state, created_at) values ($1, 'paddle', 'sent', now())`,
    bought.slice(0, 1),
  );
  await pool.query(
    `insert into subscribers (address_hash, id, email, first_subscribed_at, subscribed_at)
     values ('\\x01', gen_random_uuid(), $1, now(), now())`,
    [addressOfSubscriber(0)],
  );
  await pool.query(
    `insert into outreach_messages
       (request_id, position, template, language, address_hash, message_id, state, created_at, ended_at)
     select gen_random_uuid(), n, 'personal', 'en', '', n::text, 'sent', now(), now() from generate_series(1, $1::integer) as n`,
    [RECIPIENTS_OF_A_REQUEST],
  );
}

function record(): void {
  for (let machine = 0; machine < MACHINES; machine++) {
    ledger.validations.record(machine, 'acknowledged');
    ledger.validations.record(machine, 'unanswered');
    ledger.validations.record(machine, 'acknowledged');
    ledger.heartbeats.record(machine, 'acknowledged');
    ledger.heartbeats.record(machine, 'unanswered');
    ledger.heartbeats.record(machine, 'unanswered');
  }
  ledger.eventBatches.record(0, 'acknowledged');
  ledger.outreachRequests.record(0, 'acknowledged');
  ledger.trials.record(0, 'acknowledged');
  ledger.trialActivations.set(0, TRIAL.activationId);
  ledger.payments.record(0, 'acknowledged');
  ledger.activations.record(0, 'acknowledged');
  ledger.activationIds.set(0, BOUGHT.activationId);
  ledger.buyerValidations.record(0, 'acknowledged');
  ledger.buyerValidations.record(0, 'acknowledged');
  ledger.subscriptions.record(0, 'acknowledged');
  ledger.keys.set(0, hashKey(BOUGHT.licenseKey));
  ledger.keyMails.record(0, [BOUGHT.licenseKey], 1_000);
  for (let recipient = 0; recipient < RECIPIENTS_OF_A_REQUEST; recipient++) {
    ledger.outreach.record(recipient, 'acknowledged');
    ledger.outreachMails[recipient] = 1;
  }
}

/** Returns the problems that the auditor finds with a ledger. */
async function listProblems(
  compared: Ledger,
  jobLosses: readonly JobLoss[] = [],
): Promise<string[]> {
  const checks = await audit({ pool, ledger: compared, masterSecret: MASTER_SECRET, jobLosses });
  return checks.flatMap(({ problems }) => problems);
}

/** Returns the problems that the auditor finds after a change, which is rolled back. */
async function findProblems(change: string): Promise<string[]> {
  await pool.query('begin');
  try {
    await pool.query(change);
    return await listProblems(ledger);
  } finally {
    await pool.query('rollback');
  }
}

test('finds no problem when everything acknowledged is stored, and says how much was compared', async () => {
  const checks = await audit({ pool, ledger, masterSecret: MASTER_SECRET, jobLosses: [] });
  assert.deepEqual(
    checks.map(({ compared, problems }) => [compared, problems]),
    [200, 2, 100, 1, 1, 1, 1, 1, 1, 1, 25].map((compared) => [compared, []]),
  );
});

const one = "machine_id = 'bench-machine-5'";
const activation = `id = '${BOUGHT.activationId}'`;

for (const [change, ...problems] of [
  [
    `update activations set validation_count = 1 where ${one}`,
    '1 activations count fewer validations than were acknowledged',
  ],
  [
    `update activations set validation_count = 4 where ${one}`,
    '1 activations count more validations than were requested',
  ],
  [`delete from activations where ${one}`, '1 activations are missing or inactive'],
  [
    `update activations set deactivated_at = now() where ${activation}`,
    '1 activations are missing or inactive',
    '1 machines are inactive without a request',
  ],
  ['update usage_days set beats = 4', '100 machines have more heartbeats than were sent'],
  [
    'delete from usage_days',
    '100 machines have no day of use',
    '100 machines have fewer heartbeats than were acknowledged',
  ],
  ['delete from events', '1 events have no id in event_ids, or the reverse'],
  [
    'delete from event_ids',
    '1 acknowledged events are missing',
    '1 events have no id in event_ids, or the reverse',
  ],
  [
    'insert into events select * from events',
    '1 events are stored twice',
    '1 events are stored that were not sent',
  ],
  [`update licenses set trial = false`, '1 acknowledged trials are missing'],
  [
    `update licenses set trial = true where id = '${BOUGHT.licenseId}'`,
    '1 trials exist without a request',
  ],
  [
    'delete from license_keys',
    '1 acknowledged payments have no license',
    '1 licenses have another key',
  ],
  [`update license_keys set key_hash = '\\x01'`, '1 licenses have another key'],
  [
    `insert into billing_licenses select transaction_id, provider, 'second', license_id from billing_licenses`,
    '1 payments have several licenses',
    '1 licenses exist without a payment',
  ],
  [
    `update activations set license_id = '${BOUGHT.licenseId}' where ${one}`,
    '1 licenses are active on more machines than they allow',
  ],
  ['delete from subscribers', '1 acknowledged subscribers are missing'],
  [`update key_emails set state = 'sending'`, '1 e-mails with keys are not recorded as sent'],
] as const) {
  test(`finds: ${problems.join('; ')}`, async () => {
    assert.deepEqual(await findProblems(change), problems);
  });
}

test('finds outreach messages that are not stored', async () => {
  assert.deepEqual(await findProblems('delete from outreach_messages where position = 1'), [
    '1 messages are not stored, or stored twice',
  ]);
});

/** A ledger whose mails differ from what the service reported. */
function changeMails(change: (changed: Ledger) => void): Ledger {
  const changed = {
    ...ledger,
    keyMails: new KeyMails(1),
    outreach: new Facts(RECIPIENTS_OF_A_REQUEST),
    outreachNotSent: new Facts(RECIPIENTS_OF_A_REQUEST),
    outreachMails: new Uint8Array(ledger.outreachMails),
  };
  for (let recipient = 1; recipient < RECIPIENTS_OF_A_REQUEST; recipient++)
    changed.outreach.record(recipient, 'acknowledged');
  change(changed);
  return changed;
}

test('finds e-mails that did not arrive', async () => {
  const changed = changeMails(({ outreach, outreachMails }) => {
    outreach.record(0, 'acknowledged');
    outreachMails[0] = 0;
  });
  assert.deepEqual(await listProblems(changed), [
    'nothing was acknowledged, of 1 planned',
    '1 buyers received no e-mail',
    '1 messages that were reported as sent did not reach the relay',
  ]);
});

test('finds e-mails that arrived twice, unless a fault explains it, and those with another key', async () => {
  const changed = changeMails(({ keyMails, outreach, outreachMails }) => {
    for (const at of [1_000, 2_000, 3_000]) keyMails.record(0, [BOUGHT.licenseKey], at);
    outreach.record(0, 'acknowledged');
    outreachMails[0] = 2;
  });
  const loss = { from: 900, until: 1_100, most: 1 };
  assert.deepEqual(await listProblems(changed, [loss]), [
    '1 e-mails arrived twice without a fault that explains it',
    '1 messages were sent twice',
  ]);
  changed.keyMails.record(0, [TRIAL.licenseKey], 4_000);
  assert.deepEqual(await listProblems(changed, [{ ...loss, until: 3_000, most: 3 }]), [
    '1 buyers received an e-mail with another key than their page',
    '1 buyers received two e-mails with different keys',
    '1 messages were sent twice',
  ]);
});

test('finds messages that arrived although they were reported as not sent, and those without an answer', async () => {
  const changed = changeMails(({ keyMails, outreachNotSent }) => {
    keyMails.record(0, [BOUGHT.licenseKey], 1_000);
    outreachNotSent.record(0, 'acknowledged');
  });
  assert.deepEqual(await listProblems(changed), [
    '1 messages that were reported as not sent reached the relay',
    '1 messages are stored as sent that were not reported so',
  ]);
  const unanswered = changeMails(({ keyMails }) => {
    keyMails.record(0, [BOUGHT.licenseKey], 1_000);
  });
  assert.deepEqual(await listProblems(unanswered), [
    '1 messages were never answered',
    '1 messages are stored as sent that were not reported so',
  ]);
});

test('finds requests that were never acknowledged, but does not count those that were not sent', async () => {
  const eventBatches = new Facts(4);
  eventBatches.record(0, 'acknowledged');
  eventBatches.record(1, 'unanswered');
  eventBatches.record(2, 'refused');
  assert.deepEqual(await listProblems({ ...ledger, eventBatches }), [
    '2 batches were never acknowledged',
  ]);
  const outreachRequests = new Facts(1);
  const outreach = new Facts(RECIPIENTS_OF_A_REQUEST);
  const unsent = await listProblems({ ...ledger, outreach, outreachRequests });
  assert.ok(!unsent.some((problem) => problem.includes('never answered')), unsent.join('; '));
});

test('finds buyers with an acknowledged payment who could not activate a machine', async () => {
  const activations = new Facts(1);
  activations.record(0, 'unanswered');
  assert.deepEqual(await listProblems({ ...ledger, activations }), [
    '1 buyers could not activate a machine',
  ]);
});

test('an empty ledger is no proof: every check finds that nothing was acknowledged', async () => {
  const empty = createLedger(PLAN, MACHINES);
  const checks = await audit({ pool, ledger: empty, masterSecret: MASTER_SECRET, jobLosses: [] });
  const planned = [100, 1, 100, 1, 1, 1, 1, 1, 1, 1, RECIPIENTS_OF_A_REQUEST];
  assert.deepEqual(
    checks.map(({ problems }) => problems[0]),
    planned.map((number) => `nothing was acknowledged, of ${number} planned`),
  );
});
