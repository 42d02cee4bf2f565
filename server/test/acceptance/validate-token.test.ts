import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { verifyEntitlement } from '../entitlements.ts';
import { activate, validate } from '../license-steps.ts';
import { DAY_MS, HOUR_MS, SECOND_MS, TEST_START } from '../test-clock.ts';
import { inProcess, openAcceptanceService } from './acceptance-service.ts';
import { issueActivatedLicense } from './activated-license.ts';

const service = await openAcceptanceService();

describe('200, the token', () => {
  test('is reused for an hour, then signed again', inProcess, async () => {
    const { clock } = service.own;
    const { licenseKey, activationId, machineId } = await issueActivatedLicense(service);
    const ask = async (offsetMs: number) => {
      clock.set(new Date(TEST_START.getTime() + offsetMs));
      return (await validate(service, licenseKey, activationId, machineId)).entitlement;
    };
    const first = await ask(0);
    assert.equal(await ask(HOUR_MS - SECOND_MS), first);
    const second = await ask(HOUR_MS);
    assert.notEqual(second, first);
    assert.equal(await ask(2 * HOUR_MS - SECOND_MS), second);
    const { claims } = await verifyEntitlement(service, second, clock.now());
    assert.equal(claims['iat'], (TEST_START.getTime() + HOUR_MS) / 1000);
  });

  test('changes with its claims', inProcess, async () => {
    const { licenseKey, license, activationId, machineId } = await issueActivatedLicense(service);
    const before = await validate(service, licenseKey, activationId, machineId);
    const expiresAt = new Date(TEST_START.getTime() + DAY_MS);
    await service.own.setFacts(license.id, { expires_at: expiresAt });
    const after = await validate(service, licenseKey, activationId, machineId);
    assert.notEqual(after.entitlement, before.entitlement);
    const { claims } = await verifyEntitlement(service, after.entitlement, TEST_START);
    assert.equal(claims['exp'], expiresAt.getTime() / 1000);
  });

  test(
    'and the answer contain the end of updates, also after it; nothing without one',
    inProcess,
    async () => {
      const { licenseKey, license, activationId, machineId } = await issueActivatedLicense(service);
      const all = await validate(service, licenseKey, activationId, machineId);
      assert.ok(!('updates_until' in all));
      const { claims: claimsBefore } = await verifyEntitlement(
        service,
        all.entitlement,
        TEST_START,
      );
      assert.ok(!('updates_until' in claimsBefore));
      const end = new Date(TEST_START.getTime() - DAY_MS);
      await service.own.setFacts(license.id, { updates_until: end });
      const over = await validate(service, licenseKey, activationId, machineId);
      assert.deepEqual(
        [over.valid, over.expires_at, over.updates_until],
        [true, null, end.toISOString()],
      );
      const { claims } = await verifyEntitlement(service, over.entitlement, TEST_START);
      assert.equal(claims['updates_until'], end.getTime() / 1000);
      const again = await validate(service, licenseKey, activationId, machineId);
      assert.equal(again.entitlement, over.entitlement);
      const activated = await activate(service, licenseKey, { machine_id: machineId });
      assert.equal(activated.updates_until, end.toISOString());
    },
  );

  test(
    'expires with the grace period, at the latest after the offline days',
    inProcess,
    async () => {
      const { clock } = service.own;
      const { licenseKey, activationId, machineId } = await issueActivatedLicense(service, {
        subscription: true,
        expires_at: TEST_START,
      });
      const endOf = async (offsetMs: number) => {
        clock.set(new Date(TEST_START.getTime() + offsetMs));
        const { entitlement } = await validate(service, licenseKey, activationId, machineId);
        const { claims } = await verifyEntitlement(service, entitlement, clock.now());
        return Number(claims['exp']) * 1000 - TEST_START.getTime();
      };
      assert.equal(await endOf(-DAY_MS), 13 * DAY_MS);
      assert.equal(await endOf(0), 14 * DAY_MS);
      assert.equal(await endOf(10 * DAY_MS), 14 * DAY_MS);
    },
  );

  test('contains neither key nor address', inProcess, async () => {
    const customerEmail = 'ada@example.com';
    const { licenseKey } = await service.own.issue({ customerEmail, customerName: 'Ada' });
    const { entitlement } = await activate(service, licenseKey);
    const [, payload = ''] = (entitlement ?? '').split('.');
    const text = Buffer.from(payload, 'base64url').toString();
    for (const secret of [licenseKey, licenseKey.slice(-5), customerEmail, 'Ada']) {
      assert.ok(!text.includes(secret), secret);
    }
  });
});
