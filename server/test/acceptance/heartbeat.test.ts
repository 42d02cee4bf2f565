import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';

import { activate, listMachines } from '../license-steps.ts';
import { DAY_MS, HOUR_MS } from '../test-clock.ts';
import { inProcess, openAcceptanceService } from './acceptance-service.ts';
import { validationErrorsOf, fingerprintError } from './bodies.ts';
import { describeBodyRefusals } from './common-refusals.ts';

const PATH = '/api/v1/usage/heartbeat';

const service = await openAcceptanceService();

interface HeartbeatFields {
  readonly app_version?: string | null;
  readonly os_version?: string | null;
  readonly machine_fingerprint?: Readonly<Record<string, unknown>>;
}

function sendHeartbeat(machineId: string, fields: HeartbeatFields = {}) {
  const machine_fingerprint = { machine_id: machineId };
  return service.post(PATH, { machine_id: machineId, machine_fingerprint, ...fields });
}

async function readDays() {
  const { rows } = await service.own.pool.query(
    `select day::text, first_at, last_at, beats, app_version, os_version from usage_days order by day, beats`,
  );
  return rows;
}

describe('200', () => {
  test('creates the day with the first heartbeat of a machine and updates it with later ones', async () => {
    const machineId = randomUUID();
    const first = await sendHeartbeat(machineId);
    assert.deepEqual([first.status, first.body], [200, { success: true, message: 'created' }]);
    const second = await sendHeartbeat(machineId);
    assert.deepEqual([second.status, second.body], [200, { success: true, message: 'updated' }]);
    assert.equal((await sendHeartbeat(randomUUID())).text, first.text);
  });

  test(
    'counts a day in UTC by the clock of the service, to its first and last millisecond',
    inProcess,
    async () => {
      const { clock, pool } = service.own;
      await pool.query('truncate usage_days');
      const midnight = new Date(Date.UTC(2027, 4, 2));
      clock.set(new Date(midnight.getTime() - 1));
      await sendHeartbeat('m', { app_version: '1.0', os_version: '15.1' });
      clock.set(midnight);
      assert.deepEqual((await sendHeartbeat('m')).body, { success: true, message: 'created' });
      clock.advance(HOUR_MS);
      await sendHeartbeat('m');
      const before = new Date(midnight.getTime() - 1);
      const versions = { app_version: '1.0', os_version: '15.1' };
      assert.deepEqual(await readDays(), [
        { day: '2027-05-01', first_at: before, last_at: before, beats: 1, ...versions },
        {
          day: '2027-05-02',
          first_at: midnight,
          last_at: new Date(midnight.getTime() + HOUR_MS),
          beats: 2,
          app_version: null,
          os_version: null,
        },
      ]);
    },
  );

  test('keeps a known version when a request omits it or sends null', inProcess, async () => {
    await service.own.pool.query('truncate usage_days');
    await sendHeartbeat('m', { app_version: '2.0', os_version: '15.1' });
    await sendHeartbeat('m', { app_version: null, os_version: '' });
    await sendHeartbeat('m', { app_version: '2.1' });
    const [day] = await readDays();
    assert.deepEqual([day.beats, day.app_version, day.os_version], [3, '2.1', '15.1']);
  });

  test('reads versions that the request omits from the fingerprint', inProcess, async () => {
    await service.own.pool.query('truncate usage_days');
    const machine_fingerprint = { machine_id: 'm', os_version: '14', app_version: 3 };
    await sendHeartbeat('m', { machine_fingerprint, os_version: '15' });
    const [day] = await readDays();
    assert.deepEqual([day.app_version, day.os_version], ['3', '15']);
  });

  test('cuts long versions between characters', inProcess, async () => {
    await service.own.pool.query('truncate usage_days');
    await sendHeartbeat('m', { app_version: `${'v'.repeat(63)}😀😀`, os_version: 'w'.repeat(200) });
    const [day] = await readDays();
    assert.deepEqual([day.app_version, day.os_version], [`${'v'.repeat(63)}😀`, 'w'.repeat(128)]);
  });

  test('stores no machine id', inProcess, async () => {
    await sendHeartbeat('a-unique-machine-name');
    const { rows } = await service.own.pool.query('select usage_days::text as row from usage_days');
    assert.doesNotMatch(JSON.stringify(rows), /unique-machine/);
  });

  test(
    'lists the versions of the activation or the heartbeat, whichever is newer',
    inProcess,
    async () => {
      const { clock } = service.own;
      const { licenseKey } = await service.own.issue();
      const machineId = randomUUID();
      const versionsOf = async () => {
        const [machine] = await listMachines(service, licenseKey);
        return [machine?.app_version, machine?.os_version];
      };
      await activate(service, licenseKey, {
        machine_id: machineId,
        app_version: '1.0',
        os_version: '14',
      });
      clock.advance(DAY_MS);
      await sendHeartbeat(machineId, { app_version: '2.0' });
      assert.deepEqual(await versionsOf(), ['2.0', '14']);
      clock.advance(HOUR_MS);
      await activate(service, licenseKey, { machine_id: machineId, app_version: '3.0' });
      assert.deepEqual(await versionsOf(), ['3.0', '14']);
    },
  );
});

describe('concurrency', () => {
  test('counts all concurrent heartbeats, of which one creates the day', inProcess, async () => {
    await service.own.pool.query('truncate usage_days');
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) => sendHeartbeat(`machine ${index % 3}`)),
    );
    const created = answers.filter(({ text }) => text.includes('created'));
    assert.equal(created.length, 3);
    assert.deepEqual(
      (await readDays()).map(({ beats }) => beats),
      [20, 20, 20],
    );
  });
});

describe('422', () => {
  test('reports all missing fields', async () => {
    const answer = await service.post(PATH, {});
    assert.equal(answer.status, 422);
    assert.deepEqual(validationErrorsOf(answer.body), [
      ['body.machine_id', 'missing'],
      ['body.machine_fingerprint', 'missing'],
    ]);
  });

  test('rejects an empty fingerprint', async () => {
    const answer = await sendHeartbeat('m', { machine_fingerprint: {} });
    assert.deepEqual([answer.status, answer.body], [422, fingerprintError('must not be empty')]);
  });

  test('rejects versions that are not text', async () => {
    const answer = await service.post(PATH, {
      machine_id: 'm',
      machine_fingerprint: { machine_id: 'm' },
      app_version: 2,
      os_version: [],
    });
    assert.deepEqual(validationErrorsOf(answer.body), [
      ['body.app_version', 'string_type'],
      ['body.os_version', 'string_type'],
    ]);
  });
});

describeBodyRefusals(service, PATH, ['machine_id', 'machine_fingerprint']);
