import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';

import { checkMasterSecret } from '#server/features/doctor/check-secrets.ts';
import { eraseMachine } from '#server/features/analytics/installs/erase.ts';
import { listAuditEntries } from '#server/features/audit/queries.ts';
import { verifyAuditLog } from '#server/features/audit/verify-chain.ts';
import { toAddress } from '#server/features/customers/find-person.ts';
import { readPersonalData } from '#server/features/customers/personal-data.ts';
import { foreign, runImport } from '#server/features/imports/import-steps.fixture.ts';
import { countStoredRows } from '#server/features/master-secret/queries.ts';
import { rotateMasterSecret } from '#server/features/master-secret/rotate-master-secret.ts';
import { addEndpoint } from '#server/features/outgoing-webhooks/add-endpoint.ts';
import {
  listEndpoints,
  rollEndpoint,
} from '#server/features/outgoing-webhooks/manage-endpoints.ts';
import { openSecrets } from '#server/features/outgoing-webhooks/secrets.ts';
import { eraseSubscriber } from '#server/features/subscribers/manual-changes.ts';
import { suppressManually } from '#server/features/suppressions/manual-changes.ts';
import { subscribe } from '#server/features/subscribers/subscribe.ts';
import { showSubscriber } from '#server/features/subscribers/view-subscribers.ts';
import { listSuppressedAddresses } from '#server/features/suppressions/stored-addresses.ts';
import { toMachineKey } from '#server/features/usage/machine-key.ts';

import { startTestService, TEST_MASTER_SECRET, type TestService } from '../harness.ts';
import {
  activate,
  anyMachine,
  anyUnknownKey,
  listMachines,
  startTrial,
  validate,
} from '../license-steps.ts';

const NEW_SECRET = 'another master secret, for after a leak';

/** A process after the change of secrets. */
function afterChange(beside: TestService): Promise<TestService> {
  return startTestService({
    beside,
    masterSecret: NEW_SECRET,
    previousSecrets: [TEST_MASTER_SECRET],
  });
}

/** A process that was prepared for the change. */
function beforeChange(beside: TestService): Promise<TestService> {
  return startTestService({ beside, previousSecrets: [NEW_SECRET] });
}

async function heartbeat(service: TestService, machineId: string): Promise<void> {
  const answer = await service.post('/api/v1/usage/heartbeat', {
    machine_id: machineId,
    machine_fingerprint: { machine_id: machineId },
    app_version: '1.0.0',
    os_version: 'test',
  });
  assert.equal(answer.status, 200, answer.text);
}

async function rotate({ context }: TestService) {
  return rotateMasterSecret(context, 'test', () => {});
}

async function countOutdated({ context }: TestService): Promise<Record<string, number>> {
  const counts = await countStoredRows(context.pool);
  const outdated = counts.filter(({ secretId }) => secretId !== context.vault.secretId);
  return Object.fromEntries(outdated.map(({ kind, rows }) => [kind, rows]));
}

test('rows stored under the previous secret are found, and trials are not granted again', async () => {
  const service = await startTestService();
  const machine = anyMachine();
  const parts = { machine_id: randomUUID(), serial: 'PF2K9QX7', mac: '3c:22:fb:4e:91:07' };
  const { license, licenseKey } = await service.issue({ maxActivations: 1 });
  const { activation_id: id } = await activate(service, licenseKey, machine);
  const trial = await startTrial(service, parts);
  await suppressManually(service.context, {
    email: 'no@example.com',
    actor: 'test',
    reason: 'test',
  });
  await heartbeat(service, machine.machine_id);

  const next = await afterChange(service);
  assert.equal((await validate(next, licenseKey, id, machine.machine_id)).valid, true);
  assert.equal((await activate(next, licenseKey, machine)).activation_id, id);
  assert.equal((await listMachines(next, licenseKey)).length, 1);
  assert.equal((await startTrial(next, parts)).license_key, trial.license_key);
  assert.equal(next.context.vault.open(license.keySealed, `license:${license.id}`), licenseKey);
  assert.deepEqual(
    await listSuppressedAddresses(next.pool, next.context.vault, [
      'no@example.com',
      'yes@example.com',
    ]),
    [true, false],
  );
  await heartbeat(next, machine.machine_id);
  assert.equal(await next.count('usage_days'), 1);
  const unknown = await validate(next, anyUnknownKey(), id, machine.machine_id);
  assert.equal(unknown.reason, 'license_not_found');
});

test('a returning machine and a reused address are rewritten', async () => {
  const service = await startTestService();
  const machine = anyMachine();
  const { licenseKey } = await service.issue();
  await activate(service, licenseKey, machine);
  await startTrial(service, machine);
  await suppressManually(service.context, {
    email: 'no@example.com',
    actor: 'test',
    reason: 'test',
  });
  const next = await afterChange(service);
  const before = await countOutdated(next);
  assert.deepEqual([before['machines'], before['suppressions']], [2, 1]);
  assert.ok((before['trial_claims'] ?? 0) > 0);
  await activate(next, licenseKey, machine);
  await startTrial(next, machine);
  const { suppression } = await showSubscriber(next.context, 'no@example.com');
  assert.equal(suppression?.reason, 'by_hand');
  const after = await countOutdated(next);
  assert.deepEqual(
    [after['machines'], after['trial_claims'], after['suppressions']],
    [undefined, undefined, undefined],
  );
});

test('after a rotation all rows except those of absent machines are readable without the previous secret', async () => {
  const service = await startTestService();
  const machine = anyMachine();
  const { license, licenseKey } = await service.issue({ customerEmail: 'ann@example.com' });
  const { activation_id: id } = await activate(service, licenseKey, machine);
  await startTrial(service, anyMachine());
  await suppressManually(service.context, {
    email: 'Ann@example.com',
    actor: 'test',
    reason: 'test',
  });
  await heartbeat(service, machine.machine_id);
  const kid = service.context.signingKeys.current(service.clock.now()).publicJwk.kid;

  const next = await afterChange(service);
  const [old] = await checkMasterSecret(next.pool, next.context.vault);
  assert.equal(old?.code, 'master_secret.previous_in_use');
  assert.match(old.cause ?? '', /2 licenses/u);
  const result = await rotate(next);
  assert.deepEqual(result.licenses, { rewritten: 2, failed: 0 });
  assert.deepEqual(result.signingKeys, { rewritten: 1, failed: 0 });
  assert.equal(result.addresses, 1);
  const again = await rotate(next);
  assert.deepEqual(again.licenses, { rewritten: 0, failed: 0 });
  const left = await countOutdated(next);
  assert.deepEqual(Object.keys(left), ['machines', 'trial_claims']);

  const alone = await startTestService({ beside: service, masterSecret: NEW_SECRET });
  assert.equal((await validate(alone, licenseKey, id, machine.machine_id)).valid, true);
  const { rows } = await alone.pool.query<{ key_sealed: Buffer }>(
    'select key_sealed from licenses where id = $1',
    [license.id],
  );
  const [{ key_sealed: sealed } = { key_sealed: Buffer.alloc(0) }] = rows;
  assert.equal(alone.context.vault.open(sealed, `license:${license.id}`), licenseKey);
  assert.equal(alone.context.signingKeys.current(alone.clock.now()).publicJwk.kid, kid);
  assert.deepEqual(
    await listSuppressedAddresses(alone.pool, alone.context.vault, ['ann@example.com']),
    [true],
  );
  await heartbeat(alone, machine.machine_id);
  assert.equal(await alone.count('usage_days'), 1);
  const [unknown] = await checkMasterSecret(alone.pool, alone.context.vault);
  assert.equal(unknown?.code, 'master_secret.unknown_in_use');
});

test('processes with exchanged secrets read each other’s rows, before and after the rotation', async () => {
  const service = await startTestService();
  const old = await beforeChange(service);
  const next = await afterChange(service);
  const machine = anyMachine();
  const { licenseKey } = await next.issue();
  const { activation_id: id } = await activate(old, licenseKey, machine);
  assert.equal((await activate(next, licenseKey, machine)).activation_id, id);
  assert.equal((await activate(old, licenseKey, machine)).activation_id, id);
  const trial = await startTrial(next, machine);
  assert.equal((await startTrial(old, machine)).license_key, trial.license_key);
  await rotate(next);
  assert.equal((await validate(old, licenseKey, id, machine.machine_id)).valid, true);
  assert.equal((await startTrial(old, machine)).license_key, trial.license_key);
});

test('one machine that requests a trial from processes with exchanged secrets is granted one', async () => {
  const service = await startTestService();
  const processes = [await beforeChange(service), await afterChange(service)];
  for (let round = 0; round < 5; round += 1) {
    const machine = anyMachine();
    const trials = await Promise.all(
      [...processes, ...processes].map((each) => startTrial(each, machine)),
    );
    assert.equal(new Set(trials.map((trial) => trial.license_key)).size, 1);
  }
});

test('a key that is stored under the previous secret is not imported again', async () => {
  const service = await startTestService();
  const { licenseKey } = await service.issue();
  const next = await afterChange(service);
  for (const dryRun of [true, false]) {
    const { report } = await runImport(next.context, [foreign({ licenseKey })], { dryRun });
    assert.deepEqual([report.outcomes.same, report.outcomes.new], [1, 0]);
  }
});

test('an imported key is found in its other spellings while and after the secret is exchanged', async () => {
  const service = await startTestService();
  const licenseKey = 'F4A29C1D-0B7E6A38-91C4D2E5-7780ABCD';
  await runImport(service.context, [foreign({ licenseKey })]);
  const next = await afterChange(service);
  const machine = anyMachine();
  const { activation_id: id } = await activate(next, licenseKey.toLowerCase(), machine);
  await rotate(next);
  const spelling = licenseKey.replaceAll('-', '');
  assert.equal((await activate(next, spelling, machine)).activation_id, id);
});

test('a subscriber stored under the previous secret is shown, subscribed once and erased', async () => {
  const service = await startTestService();
  const email = 'ann@example.com';
  await subscribe(service.context, email, undefined);
  const next = await afterChange(service);
  assert.equal((await showSubscriber(next.context, email)).subscriber?.email, email);
  await subscribe(service.context, 'bob@example.com', undefined);
  await subscribe(next.context, 'bob@example.com', undefined);
  assert.equal(await next.count('subscribers'), 2);
  await subscribe(service.context, 'eve@example.com', undefined);
  const change = { actor: 'test', reason: 'a test' };
  const erased = await eraseSubscriber(next.context, { email: 'eve@example.com', ...change });
  assert.equal(erased.existed, true);
  assert.equal(await next.count('subscribers'), 2);
});

test('audit entries keep the ids of their subjects, and are found by those of every later secret', async () => {
  const email = 'ann@example.com';
  const change = { actor: 'test', reason: 'a test' };
  const machine = anyMachine();
  const service = await startTestService();
  const { licenseKey } = await service.issue({ customerEmail: email });
  await activate(service, licenseKey, machine);
  const rotateTo = async (masterSecret: string, previous: string) => {
    const next = await startTestService({
      beside: service,
      masterSecret,
      previousSecrets: [previous],
    });
    await rotate(next);
    return startTestService({ beside: service, masterSecret });
  };
  const record = async ({ context }: TestService) => {
    await suppressManually(context, { email, ...change });
    await eraseMachine(context, { id: machine.machine_id, ...change });
  };
  await record(service);
  const second = await rotateTo(NEW_SECRET, TEST_MASTER_SECRET);
  await record(second);
  const third = await rotateTo('a third master secret, after a second leak', NEW_SECRET);
  await record(third);

  const services = [service, second, third];
  const ids = services.map(({ context }) => toAddress(context.vault, email).id);
  const machines = services.map(({ context }) => toMachineKey(context.vault, machine.machine_id));
  const { rows } = await third.pool.query(
    `select subject_id from audit_log where action not in ('secret.rotate', 'license.issue') order by sequence`,
  );
  assert.deepEqual(
    rows.map((row) => row.subject_id),
    [0, 1, 2].flatMap((index) => [ids[index], machines[index]]),
  );
  for (const id of [...ids, ...machines]) {
    assert.equal((await listAuditEntries(third.pool, id)).length, 3, id);
  }
  assert.equal((await showSubscriber(third.context, email)).history.length, 3);
  const { tables } = await readPersonalData(third.context, email);
  // And the one of her license.
  assert.equal(tables.get('audit_log')?.length, 4);
  assert.equal((await verifyAuditLog(third)).problem, null);
});

test('the signing secrets of a webhook endpoint, also the replaced one, survive a rotation', async () => {
  const service = await startTestService();
  const change = { actor: 'test', reason: 'a test' };
  const order = { url: 'https://hooks.example.com/', eventTypes: [], description: null };
  const { endpoint, secret: first } = await addEndpoint(service.context, order, change);
  const roll = { ...change, idOrUrl: endpoint.id };
  const { secret: second } = await rollEndpoint(service.context, roll, 3_600_000);
  const next = await afterChange(service);
  assert.deepEqual((await rotate(next)).webhookSecrets, { rewritten: 1, failed: 0 });
  const alone = await startTestService({ beside: service, masterSecret: NEW_SECRET });
  const [stored] = await listEndpoints(alone.context);
  assert.ok(stored !== undefined);
  assert.deepEqual(openSecrets(alone.context.vault, stored, alone.clock.now()), [second, first]);
});
