import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startTestService } from '../../../test/harness.ts';
import { activate, anyMachine, deactivate, validate } from '../../../test/license-steps.ts';
import { DAY_MS, TEST_START } from '../../../test/test-clock.ts';
import { LicenseActivity, writeLicenseActivity } from './activity.ts';
import { createLicenseTasks } from './background.ts';

const service = await startTestService();
const { context, pool, clock } = service;

async function listRefusals(licenseId: string): Promise<unknown[]> {
  const { rows } = await pool.query(
    `select day::text, reason, refusals::integer, last_at from license_refusals
     where license_id = $1 order by day, reason`,
    [licenseId],
  );
  return rows;
}

async function readActivity(licenseId: string): Promise<unknown> {
  const { rows } = await pool.query(
    'select active_machines, is_full, last_seen_at from license_activity where license_id = $1',
    [licenseId],
  );
  return rows[0];
}

async function runTask(name: string): Promise<void> {
  const task = createLicenseTasks(context).find((each) => each.name === name);
  assert.ok(task);
  await task.run(new AbortController().signal);
}

test('counts refused activations and validations by day and reason, and no valid ones', async () => {
  clock.set(TEST_START);
  const { license, licenseKey } = await service.issue({ maxActivations: 1 });
  const machine = anyMachine();
  const { activation_id: activation } = await activate(service, licenseKey, machine);
  const refuse = () =>
    service.post('/api/v1/licenses/activate', {
      license_key: licenseKey,
      machine_fingerprint: anyMachine(),
    });
  await refuse();
  await writeLicenseActivity(context);
  await refuse();
  await validate(service, licenseKey, activation, machine.machine_id);
  await validate(service, licenseKey, activation, 'another machine');
  clock.advance(DAY_MS);
  await refuse();
  await writeLicenseActivity(context);
  const next = new Date(TEST_START.getTime() + DAY_MS);
  assert.deepEqual(await listRefusals(license.id), [
    { day: '2027-03-01', reason: 'activation_limit_reached', refusals: 2, last_at: TEST_START },
    { day: '2027-03-01', reason: 'machine_mismatch', refusals: 1, last_at: TEST_START },
    { day: '2027-03-02', reason: 'activation_limit_reached', refusals: 1, last_at: next },
  ]);
});

test('keeps what could not be written', async () => {
  const { license } = await service.issue();
  context.licenseActivity.recordRefusal(license.id, 'machine_mismatch');
  const broken = { licenseActivity: context.licenseActivity, pool: Object.create(null) };
  await assert.rejects(writeLicenseActivity(broken));
  context.licenseActivity.recordRefusal(license.id, 'machine_mismatch');
  await writeLicenseActivity(context);
  assert.deepEqual(
    (await listRefusals(license.id)).map((row) => Object(row).refusals),
    [2],
  );
});

test('buffers a bounded number of refusals', () => {
  const activity = new LicenseActivity(clock);
  for (let index = 0; index < 20_005; index++) activity.recordRefusal(String(index), 'x');
  activity.recordRefusal('0', 'x');
  const { refusals } = activity.take();
  assert.deepEqual([refusals.length, refusals[0]?.refusals], [20_000, 2]);
});

test('the roll-up follows activations and deactivations, and new licenses join it', async () => {
  clock.set(TEST_START);
  const { license, licenseKey } = await service.issue({ maxActivations: 1 });
  await runTask('license_activity_of_new');
  assert.deepEqual(await readActivity(license.id), {
    active_machines: 0,
    is_full: false,
    last_seen_at: null,
  });
  const machine = anyMachine();
  const { activation_id: activation } = await activate(service, licenseKey, machine);
  await runTask('license_activity');
  assert.deepEqual(await readActivity(license.id), {
    active_machines: 1,
    is_full: true,
    last_seen_at: TEST_START,
  });
  await deactivate(service, licenseKey, activation, machine.machine_id);
  await runTask('license_activity');
  assert.deepEqual(await readActivity(license.id), {
    active_machines: 0,
    is_full: false,
    last_seen_at: TEST_START,
  });
});

test('the daily refresh stores a validation that is a month newer, and removes old refusals', async () => {
  clock.set(TEST_START);
  const { license, licenseKey } = await service.issue();
  const machine = anyMachine();
  const { activation_id: activation } = await activate(service, licenseKey, machine);
  context.licenseActivity.recordRefusal(license.id, 'machine_mismatch');
  await runTask('license_activity');
  for (const [days, stored] of [
    [20, 0],
    [31, 31],
  ] as const) {
    clock.set(new Date(TEST_START.getTime() + days * DAY_MS));
    await validate(service, licenseKey, activation, machine.machine_id);
    await runTask('license_activity_refresh');
    const expected = new Date(TEST_START.getTime() + stored * DAY_MS);
    assert.deepEqual(Object(await readActivity(license.id)).last_seen_at, expected);
  }
  assert.equal((await listRefusals(license.id)).length, 1);
  clock.set(new Date(TEST_START.getTime() + 91 * DAY_MS));
  await runTask('license_activity_refresh');
  assert.equal((await listRefusals(license.id)).length, 0);
});
