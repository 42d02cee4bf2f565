/** The auditor finds nothing on a database that holds what was acknowledged, and every contradiction. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { toMachineKey } from '#server/features/usage/machine-key.ts';
import { createVault } from '#server/lib/vault.ts';

import { credentialsOf } from '../../bench/lib/credentials.ts';
import { openTestPool } from '../../server/test/database-pool.ts';
import { createLedger } from '../ledger/ledger.ts';
import { idOfEvent, sizeOfBatch } from '../load/actors/events.ts';
import { addressOfSubscriber } from '../load/actors/mails.ts';
import { idOfPurchase } from '../load/actors/purchases.ts';
import { planDay } from '../plan/day-plan.ts';
import { audit } from './audit.ts';

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
const ledger = createLedger(planDay(MACHINES, 1), MACHINES);
await store();
record();

/** Stores what the ledger says. */
async function store(): Promise<void> {
  const machines = Array.from({ length: MACHINES }, (_, index) => credentialsOf(index));
  const licenses = [...machines, TRIAL, BOUGHT];
  const vault = createVault(MASTER_SECRET);
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
  await pool.query(`insert into license_keys values ('\\x01', $1)`, [BOUGHT.licenseId]);
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
  ledger.trials.record(0, 'acknowledged');
  ledger.trialActivations.set(0, TRIAL.activationId);
  ledger.payments.record(0, 'acknowledged');
  ledger.activations.record(0, 'acknowledged');
  ledger.activationIds.set(0, BOUGHT.activationId);
  ledger.buyerValidations.record(0, 'acknowledged');
  ledger.buyerValidations.record(0, 'acknowledged');
  ledger.subscriptions.record(0, 'acknowledged');
  ledger.keyMails[0] = 1;
  ledger.outreach.record(0, 'acknowledged');
  ledger.outreachMails[0] = 1;
}

/** Returns the problems that the auditor finds after a change, which is rolled back. */
async function findProblems(change: string): Promise<string[]> {
  await pool.query('begin');
  try {
    await pool.query(change);
    const checks = await audit({ pool, ledger, masterSecret: MASTER_SECRET, repeatedMails: 0 });
    return checks.flatMap(({ problems }) => problems);
  } finally {
    await pool.query('rollback');
  }
}

test('finds no problem when everything acknowledged is stored, and says how much was compared', async () => {
  const checks = await audit({ pool, ledger, masterSecret: MASTER_SECRET, repeatedMails: 0 });
  assert.deepEqual(
    checks.map(({ compared, problems }) => [compared, problems]),
    [200, 2, 100, 1, 1, 1, 1, 1, 1, 1].map((compared) => [compared, []]),
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
    '1 machines are inactive although nobody deactivated them',
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
    '1 trials exist that nobody requested',
  ],
  ['delete from license_keys', '1 acknowledged payments have no license'],
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

test('finds e-mails that did not arrive, or arrived twice', async () => {
  const findInMails = async (): Promise<string[]> => {
    const checks = await audit({ pool, ledger, masterSecret: MASTER_SECRET, repeatedMails: 1 });
    return checks.flatMap(({ problems }) => problems);
  };
  ledger.keyMails[0] = 0;
  ledger.outreachMails[0] = 0;
  assert.deepEqual(await findInMails(), [
    '1 buyers received no e-mail',
    '1 messages that were reported as sent did not reach the relay',
  ]);
  ledger.keyMails[0] = 3;
  ledger.outreachMails[0] = 2;
  assert.deepEqual(await findInMails(), [
    '1 e-mails too many were sent twice',
    '1 messages were sent twice',
  ]);
});
