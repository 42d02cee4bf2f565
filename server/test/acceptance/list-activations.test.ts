import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import {
  activate,
  anyMachine,
  anyUnknownKey,
  deactivate,
  listMachines,
  MISTYPED_KEY,
  validate,
} from '../license-steps.ts';
import { DAY_MS, fromStart, HOUR_MS, SECOND_MS, TEST_START } from '../test-clock.ts';
import { inProcess, openAcceptanceService, withLicense } from './acceptance-service.ts';
import { problem } from './bodies.ts';
import { describeGuessing } from './common-refusals.ts';

const service = await openAcceptanceService();

function pathOf(licenseKey: string): string {
  return `/api/v1/licenses/${encodeURIComponent(licenseKey)}/activations`;
}

describe('200', () => {
  test('an empty list without machines', withLicense, async () => {
    const answer = await service.get(pathOf(await service.issueKey()));
    assert.deepEqual([answer.status, answer.body], [200, []]);
    assert.equal(answer.headers.get('cache-control'), 'no-store');
  });

  test('every machine with all its values', inProcess, async () => {
    const { clock } = service.own;
    const { licenseKey } = await service.own.issue();
    const first = await activate(service, licenseKey, {
      machine_id: 'first',
      os_version: '15.1',
      app_version: 2.5,
    });
    clock.advance(SECOND_MS);
    const second = await activate(service, licenseKey, { board_serial: 'b', disk_serial: 'd' });
    clock.advance(HOUR_MS);
    await validate(service, licenseKey, first.activation_id, 'first');
    await validate(service, licenseKey, first.activation_id, 'first');
    const answer = await service.get(pathOf(licenseKey));
    const { rows } = await service.own.pool.query<{ machine_digest: string }>(
      'select machine_digest from activations where id = $1',
      [second.activation_id],
    );
    assert.match(rows[0]?.machine_digest ?? '', /^[0-9a-f]{32}$/);
    assert.deepEqual(answer.body, [
      {
        machine_id: 'first',
        os_version: '15.1',
        app_version: '2.5',
        last_validated_at: fromStart(SECOND_MS + HOUR_MS),
        validation_count: 2,
        is_active: true,
        activation_id: first.activation_id,
        activated_at: fromStart(0),
      },
      {
        machine_id: rows[0]?.machine_digest,
        os_version: null,
        app_version: null,
        last_validated_at: fromStart(SECOND_MS),
        validation_count: 0,
        is_active: true,
        activation_id: second.activation_id,
        activated_at: fromStart(SECOND_MS),
      },
    ]);
  });

  test('active machines first, then inactive ones', withLicense, async () => {
    const licenseKey = await service.issueKey();
    const [gone, kept] = [anyMachine(), anyMachine()];
    const { activation_id: goneId } = await activate(service, licenseKey, gone);
    const { activation_id: keptId } = await activate(service, licenseKey, kept);
    await deactivate(service, licenseKey, goneId, gone.machine_id);
    assert.deepEqual(
      (await listMachines(service, licenseKey)).map((machine) => [
        machine.machine_id,
        machine.activation_id,
        machine.is_active,
      ]),
      [
        [kept.machine_id, keptId, true],
        [gone.machine_id, goneId, false],
      ],
    );
  });

  test('lists at most 1,000 machines, without the last deactivated ones', inProcess, async () => {
    const { licenseKey } = await service.own.issue();
    const { activation_id: kept } = await activate(service, licenseKey);
    await service.own.pool.query(
      `insert into activations (license_id, id, components, machine_digest, activated_at, deactivated_at, last_validated_at,
                                  versions_reported_at)
       select license_id, gen_random_uuid(), components, machine_digest, activated_at - day * interval '1 day', activated_at,
              last_validated_at, versions_reported_at
       from activations cross join generate_series(1, 1000) as day
       where id = $1`,
      [kept],
    );
    const machines = await listMachines(service, licenseKey);
    assert.equal(machines.length, 1_000);
    assert.equal(machines[0]?.activation_id, kept);
    assert.equal(machines[1]?.activated_at, fromStart(-1_000 * DAY_MS));
    assert.equal(machines.at(-1)?.activated_at, fromStart(-2 * DAY_MS));
  });

  test(
    'an unbound machine has its digest as id until a validation binds it',
    withLicense,
    async () => {
      const licenseKey = await service.issueKey();
      const parts = { board_serial: 'b', disk_serial: 'd' };
      const { activation_id: id } = await activate(service, licenseKey, parts);
      const name = async () => (await listMachines(service, licenseKey))[0]?.machine_id;
      assert.match((await name()) ?? '', /^[0-9a-f]{32}$/);
      await validate(service, licenseKey, id, 'bound now');
      assert.equal(await name(), 'bound now');
    },
  );

  test('a machine has the same digest on every license', inProcess, async () => {
    const parts = { board_serial: 'b9', disk_serial: 'd9' };
    const digests = await Promise.all(
      [0, 1].map(async () => {
        const { licenseKey } = await service.own.issue();
        await activate(service, licenseKey, parts);
        return (await listMachines(service, licenseKey))[0]?.machine_id;
      }),
    );
    assert.equal(digests[0], digests[1]);
  });

  test('the key is read in any case, with or without hyphens', withLicense, async () => {
    const licenseKey = await service.issueKey();
    await activate(service, licenseKey);
    for (const spelling of [licenseKey.toLowerCase(), licenseKey.replaceAll('-', ' ')]) {
      assert.equal((await listMachines(service, spelling)).length, 1);
    }
  });

  test('with every status of the license', inProcess, async () => {
    const { licenseKey } = await service.own.issue({ facts: { revoked_at: TEST_START } });
    assert.deepEqual(await listMachines(service, licenseKey), []);
  });

  test('HEAD answers the same without a body', withLicense, async () => {
    const answer = await service.send('HEAD', pathOf(await service.issueKey()));
    assert.deepEqual([answer.status, answer.text], [200, '']);
  });
});

describe('400', () => {
  test('a malformed percent-encoding', async () => {
    for (const part of ['%', '%ZZ', '%C3%28', '%ed%a0%80']) {
      const answer = await service.get(`/api/v1/licenses/${part}/activations`);
      assert.equal(answer.status, 400, part);
      assert.deepEqual(
        answer.body,
        problem('bad_request', { detail: 'The path contains a malformed percent-encoding.' }),
      );
    }
  });
});

describe('404', () => {
  test('license_not_found: an unknown key of up to 200 characters', async () => {
    for (const key of [anyUnknownKey(), MISTYPED_KEY, 'é/?#', 'x'.repeat(200)]) {
      const answer = await service.get(pathOf(key));
      assert.deepEqual([answer.status, answer.body], [404, problem('license_not_found')], key);
    }
  });

  test('a similar path', async () => {
    for (const path of ['/api/v1/licenses/x/activation', '/api/v1/licenses/x/activations/']) {
      const answer = await service.get(path);
      assert.deepEqual([answer.status, answer.body], [404, problem('not_found')]);
    }
  });
});

describe('405', () => {
  test('POST is refused with GET in Allow', async () => {
    const answer = await service.post(pathOf('x'), {});
    assert.deepEqual([answer.status, answer.body], [405, problem('method_not_allowed')]);
    assert.deepEqual(answer.headers.get('allow')?.split(', ').sort(), ['GET', 'HEAD', 'OPTIONS']);
  });
});

describe('414', () => {
  test('a key of more than 200 characters', async () => {
    const answer = await service.get(pathOf('x'.repeat(201)));
    assert.deepEqual([answer.status, answer.body], [414, problem('uri_too_long')]);
  });
});

describe('422', () => {
  test('a null character in the path', async () => {
    const answer = await service.get(pathOf('LK-\0'));
    assert.equal(answer.status, 422);
    assert.match(answer.text, /"loc":\["path","license_key"\]/);
  });
});

describeGuessing(
  service,
  (licenseKey, address) => service.get(pathOf(licenseKey), { 'x-forwarded-for': address }),
  (answer) => assert.equal(answer.status, 404),
);
