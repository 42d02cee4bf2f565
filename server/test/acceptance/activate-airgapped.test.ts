import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';

import { LicenseAirgapActivateResponse } from '@latchkey/contract';
import { Parse } from 'typebox/value';

import { hashMachineId } from '#server/features/entitlements/token.ts';

import { AIRGAP_PRODUCT, airgapCatalog, createRequest } from '../airgap-steps.ts';
import { verifyEntitlement } from '../entitlements.ts';
import type { LicenseFactsChange } from '../harness.ts';
import {
  activate,
  anyMachine,
  anyUnknownKey,
  deactivate,
  listMachines,
  validate,
} from '../license-steps.ts';
import { DAY_MS, fromStart, HOUR_MS, TEST_START } from '../test-clock.ts';
import { inProcess, openAcceptanceService } from './acceptance-service.ts';
import { problem, readBody } from './bodies.ts';

const PATH = '/api/v1/licenses/activate-airgapped';

const service = await openAcceptanceService();

before(() => {
  if (inProcess.skip === false) service.own.useCatalog(airgapCatalog());
});

function post(licenseKey: string, request: string) {
  return service.post(PATH, { license_key: licenseKey, request });
}

async function activateBy(licenseKey: string, request: string) {
  const answer = await post(licenseKey, request);
  assert.equal(answer.status, 200, answer.text);
  return Parse(LicenseAirgapActivateResponse, answer.body);
}

function issue(facts?: LicenseFactsChange) {
  return service.own.issue({ productId: AIRGAP_PRODUCT, ...(facts && { facts }) });
}

describe('200', inProcess, () => {
  test('returns an entitlement for the machine of the request, for airgap_days', async () => {
    const { licenseKey, license } = await issue();
    const machine = anyMachine();
    const answer = await activateBy(licenseKey, createRequest({ machine }));
    const { entitlement, activation_id: id, ...rest } = answer;
    assert.deepEqual(rest, {
      machine_name: 'Lab PC 3',
      expires_at: fromStart(365 * DAY_MS),
      features: ['history'],
      tier: 'pro',
      status: 'active',
      entitlement_expires_at: fromStart(90 * DAY_MS),
    });
    const { claims } = await verifyEntitlement(service, entitlement, TEST_START);
    assert.deepEqual(
      [claims['sub'], claims['aud'], claims['activation_id'], claims['machine'], claims['nonce']],
      [license.id, 'yearly', id, hashMachineId(machine.machine_id), 'q1w2e3r4t5z6u7i8'],
    );
    assert.equal(claims['exp'], TEST_START.getTime() / 1000 + 90 * 86_400);
  });

  test('the entitlement ends with the license, if that is sooner', async () => {
    const { licenseKey } = await issue({ expires_at: new Date(TEST_START.getTime() + DAY_MS) });
    const answer = await activateBy(licenseKey, createRequest());
    assert.equal(answer.entitlement_expires_at, fromStart(DAY_MS));
  });

  test('a request that is pasted twice keeps the activation', async () => {
    const { licenseKey } = await issue();
    const request = createRequest();
    const first = await activateBy(licenseKey, request);
    service.own.clock.advance(HOUR_MS);
    const second = await activateBy(licenseKey, request);
    assert.equal(second.activation_id, first.activation_id);
    assert.equal(second.entitlement_expires_at, fromStart(90 * DAY_MS + HOUR_MS));
    assert.equal((await listMachines(service, licenseKey)).length, 1);
  });

  test('the entitlement of another machine does not name this one', async () => {
    const { licenseKey } = await issue();
    const [own, other] = [anyMachine(), anyMachine()];
    const { entitlement } = await activateBy(licenseKey, createRequest({ machine: other }));
    const { claims } = await verifyEntitlement(service, entitlement, TEST_START);
    assert.notEqual(claims['machine'], hashMachineId(own.machine_id));
  });

  test('a machine that was activated online keeps its activation, and validates online later', async () => {
    const { licenseKey } = await issue();
    const machine = anyMachine();
    const online = await activate(service, licenseKey, machine);
    const answer = await activateBy(licenseKey, createRequest({ machine }));
    assert.equal(answer.activation_id, online.activation_id);
    const validation = await validate(
      service,
      licenseKey,
      online.activation_id,
      machine.machine_id,
    );
    assert.equal(validation.valid, true);
  });

  test('after a refund, validation and renewal are refused, and the entitlement still verifies', async () => {
    const { licenseKey, license } = await issue();
    const machine = anyMachine();
    const request = createRequest({ machine });
    const { entitlement, activation_id: id } = await activateBy(licenseKey, request);
    await service.own.setFacts(license.id, { refunded_at: TEST_START });
    const validation = await validate(service, licenseKey, id, machine.machine_id);
    assert.deepEqual([validation.valid, validation.reason], [false, 'license_refunded']);
    const renewal = await post(licenseKey, request);
    assert.deepEqual([renewal.status, renewal.body], [403, problem('license_refunded')]);
    const lastDay = new Date(TEST_START.getTime() + 90 * DAY_MS - 1);
    await verifyEntitlement(service, entitlement, lastDay);
    await assert.rejects(verifyEntitlement(service, entitlement, new Date(lastDay.getTime() + 1)));
  });
});

describe('403', inProcess, () => {
  test('a product without airgap_days, which gets no activation', async () => {
    const licenseKey = await service.issueKey();
    const { status, body } = await post(licenseKey, createRequest({ product: 'personal' }));
    assert.deepEqual([status, body], [403, problem('airgap_not_offered')]);
    assert.deepEqual(await listMachines(service, licenseKey), []);
  });
});

describe('404', () => {
  test('a key that no license has', async () => {
    const { status, body } = await post(anyUnknownKey(), createRequest());
    assert.deepEqual([status, body], [404, problem('license_not_found')]);
  });
});

describe('409', inProcess, () => {
  test('a request of another product, which gets no activation', async () => {
    const { licenseKey } = await issue();
    const { status, body } = await post(licenseKey, createRequest({ product: 'personal' }));
    assert.deepEqual([status, body], [409, problem('airgap_product_mismatch')]);
    assert.deepEqual(await listMachines(service, licenseKey), []);
  });

  test('one machine more than the license allows', async () => {
    const { licenseKey } = await issue();
    for (let count = 0; count < 3; count += 1) await activateBy(licenseKey, createRequest());
    const { status, body } = await post(licenseKey, createRequest());
    assert.deepEqual([status, readBody(body)['code']], [409, 'activation_limit_reached']);
  });

  test('a machine without a connection counts as a move until its entitlement ends', async () => {
    const { licenseKey } = await issue();
    for (let count = 0; count < 6; count += 1) {
      const machine = anyMachine();
      const { activation_id: id } = await activateBy(licenseKey, createRequest({ machine }));
      await deactivate(service, licenseKey, id, machine.machine_id);
    }
    // An online machine would no longer count after 30 days.
    service.own.clock.advance(89 * DAY_MS);
    const { status, body } = await post(licenseKey, createRequest());
    assert.deepEqual([status, readBody(body)['code']], [409, 'move_limit_reached']);
    assert.equal(readBody(body)['available_at'], fromStart(90 * DAY_MS));
    service.own.clock.advance(DAY_MS);
    await activateBy(licenseKey, createRequest());
  });
});

describe('422', () => {
  for (const [name, request, msg] of [
    [
      'a text without a request',
      'hello',
      'request contains no activation request, which begins with LKR1.',
    ],
    [
      'a cut request',
      createRequest().slice(0, 60),
      'request is cut or changed: its check does not match',
    ],
    ['a later version', createRequest().replace('LKR1', 'LKR9'), 'request has an unknown version'],
    ['invalid content', createRequest({ nonce: 'short' }), 'request has invalid content'],
    [
      'a fingerprint without a machine id',
      createRequest({ machine: { board_serial: 'CN7016355A', cpu_id: 'BFEBFBFF000906EA' } }),
      'request does not identify the machine: its fingerprint needs a machine_id',
    ],
  ] as const) {
    test(name, async () => {
      const { status, body } = await post(anyUnknownKey(), request);
      const detail = [{ loc: ['body', 'request'], msg, type: 'value_error' }];
      assert.deepEqual([status, body], [422, { detail }]);
    });
  }

  test('a request beyond the limit', async () => {
    const { status } = await post(anyUnknownKey(), 'x'.repeat(20_001));
    assert.equal(status, 422);
  });
});

describe('429', () => {
  test('an address that guesses keys', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.77' };
    const statuses = new Set<number>();
    for (let count = 0; count < 12; count += 1) {
      const body = { license_key: anyUnknownKey(), request: createRequest() };
      statuses.add((await service.post(PATH, body, headers)).status);
    }
    assert.deepEqual(statuses, new Set([404, 429]));
  });
});
