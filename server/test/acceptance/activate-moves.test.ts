import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { allowMoves } from '#server/features/licenses/change-license.ts';

import { activate, anyMachine, deactivate } from '../license-steps.ts';
import { DAY_MS, fromStart, HOUR_MS, TEST_START } from '../test-clock.ts';
import { inProcess, openAcceptanceService, withLicense } from './acceptance-service.ts';
import { readBody } from './bodies.ts';

const service = await openAcceptanceService();

/** The product `personal` has two activations, and the catalogue's default is three more machines within 30 days. */
const LIMIT = 5;

function requestActivation(licenseKey: string, fingerprint: object) {
  const body = { license_key: licenseKey, machine_fingerprint: fingerprint };
  return service.post('/api/v1/licenses/activate', body);
}

async function moveTo(licenseKey: string, machine: { readonly machine_id: string }): Promise<void> {
  const { activation_id: id } = await activate(service, licenseKey, machine);
  await deactivate(service, licenseKey, id, machine.machine_id);
}

/** Moves one activation of a new license from machine to machine, one per hour, until the limit is reached. */
async function reachLimit() {
  const { licenseKey, license } = await service.own.issue();
  const machines = Array.from({ length: LIMIT }, anyMachine);
  for (const machine of machines) {
    await moveTo(licenseKey, machine);
    service.own.clock.advance(HOUR_MS);
  }
  return { licenseKey, license, machines };
}

describe('409', () => {
  test('refuses a sixth machine on a two-machine license within 30 days', withLicense, async () => {
    const licenseKey = await service.issueKey();
    for (let count = 0; count < LIMIT; count += 1) await moveTo(licenseKey, anyMachine());
    const { status, body } = await requestActivation(licenseKey, anyMachine());
    assert.equal(status, 409);
    const { available_at: availableAt, ...rest } = readBody(body);
    assert.equal(typeof availableAt, 'string');
    assert.deepEqual(rest, {
      type: '/docs/errors#move_limit_reached',
      title: 'Move limit reached',
      status: 409,
      detail:
        'The license was activated on 5 different machines within 30 days. Use one of them again, or ask the vendor.',
      code: 'move_limit_reached',
      max: 5,
      days: 30,
    });
  });

  test('reports when the next machine is possible, and activates it then', inProcess, async () => {
    const { licenseKey } = await reachLimit();
    const refused = await requestActivation(licenseKey, anyMachine());
    assert.equal(readBody(refused.body)['available_at'], fromStart(30 * DAY_MS));
    service.own.clock.set(new Date(TEST_START.getTime() + 30 * DAY_MS - 1));
    assert.equal((await requestActivation(licenseKey, anyMachine())).status, 409);
    service.own.clock.advance(1);
    assert.equal((await requestActivation(licenseKey, anyMachine())).status, 200);
    const next = await requestActivation(licenseKey, anyMachine());
    assert.equal(readBody(next.body)['available_at'], fromStart(30 * DAY_MS + HOUR_MS));
  });

  test('a refused machine gets no activation and changes no row', inProcess, async () => {
    const { licenseKey, license } = await reachLimit();
    await requestActivation(licenseKey, anyMachine());
    const { rows } = await service.own.pool.query(
      `select count(*)::int as count, count(deactivated_at)::int as freed from activations where license_id = $1`,
      [license.id],
    );
    assert.deepEqual(rows, [{ count: LIMIT, freed: LIMIT }]);
  });

  test('the activation limit is reported before the move limit', inProcess, async () => {
    const { licenseKey, machines } = await reachLimit();
    for (const machine of machines.slice(0, 2)) await activate(service, licenseKey, machine);
    const { status, body } = await requestActivation(licenseKey, anyMachine());
    assert.deepEqual([status, readBody(body)['code']], [409, 'activation_limit_reached']);
  });
});

describe('200', () => {
  test(
    'a machine of the license may return any number of times within the period',
    inProcess,
    async () => {
      const { licenseKey, machines } = await reachLimit();
      for (const machine of [...machines, ...machines]) await moveTo(licenseKey, machine);
    },
  );

  test('a machine that returns repeatedly is counted once in each period', inProcess, async () => {
    const { licenseKey, machines } = await reachLimit();
    service.own.clock.advance(29 * DAY_MS);
    for (const machine of machines) await moveTo(licenseKey, machine);
    service.own.clock.advance(2 * DAY_MS);
    for (const machine of machines) await moveTo(licenseKey, machine);
    assert.equal((await requestActivation(licenseKey, anyMachine())).status, 409);
  });

  test('an active machine gets its existing activation at the move limit', inProcess, async () => {
    const { licenseKey, machines } = await reachLimit();
    const [machine = anyMachine()] = machines;
    const first = await activate(service, licenseKey, machine);
    const second = await activate(service, licenseKey, machine);
    assert.equal(second.activation_id, first.activation_id);
  });

  test('an operator allows exactly the given number of extra moves', inProcess, async () => {
    const { licenseKey, license } = await reachLimit();
    const change = { keyOrId: license.id, actor: 'ann', reason: 'stolen laptop' };
    await allowMoves(service.own.context, change, 2);
    await moveTo(licenseKey, anyMachine());
    await moveTo(licenseKey, anyMachine());
    assert.equal((await requestActivation(licenseKey, anyMachine())).status, 409);
    const { rows } = await service.own.pool.query(
      `select actor, action, reason from audit_log where subject_id = $1 and action = 'license.allow_move'`,
      [license.id],
    );
    assert.deepEqual(rows, [
      { actor: 'ann', action: 'license.allow_move', reason: 'stolen laptop' },
    ]);
  });
});
