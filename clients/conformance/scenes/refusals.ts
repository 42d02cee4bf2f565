import {
  ACTIVATE,
  ENTITLEMENT_INVALID,
  failed,
  LICENSED,
  LICENSED_KEPT,
  LICENSED_SOLO,
  NOT_ACTIVATED,
  OK,
  refused,
  VALIDATE,
} from '../play/expected.ts';
import { scene, type Scene, type Theme } from '../play/scene.ts';
import type { License } from '../service/license.ts';
import { expect, expectEqual, readClaims, readRequest } from './steps.ts';

const TRIGGERS = ['startup', 'scheduled', 'foreground', 'wake', 'reconnect', 'manual'];

/** A license that ends in one way, is refused at the next check, also after a restart without a network, and may come back. */
function endsAndReturns(
  what: string,
  reason: string,
  end: (license: License) => Promise<unknown>,
  restore?: (license: License) => Promise<unknown>,
): Scene {
  return scene(`a license that was ${what} stops the program at the next check`, async (stage) => {
    const { client, license } = await stage.openLicensed();
    await end(license);
    await client.state(LICENSED);
    await client.check({
      result: failed(reason),
      state: { ...refused(reason), source: 'service' },
    });
    await stage.network.refuse();
    const again = await stage.restart(client, { ...refused(reason), source: 'kept' });
    await stage.network.repair();
    if (restore === undefined) return;
    await restore(license);
    await again.check({ result: OK, state: LICENSED });
  });
}

export const REFUSALS: Theme = {
  name: 'refusals',
  scenes: [
    endsAndReturns('refunded', 'license_refunded', (license) => license.refund()),
    endsAndReturns(
      'revoked',
      'license_revoked',
      (license) => license.revoke(),
      (license) => license.reinstate(),
    ),
    endsAndReturns(
      'suspended',
      'license_suspended',
      (license) => license.suspend(),
      (license) => license.reinstate(),
    ),
    endsAndReturns(
      'expired',
      'license_expired',
      (license) => license.expire(),
      (license) => license.extend(30),
    ),
    endsAndReturns(
      'paused',
      'license_paused',
      (license) => license.pause(),
      (license) => license.resume(),
    ),
    endsAndReturns('canceled', 'license_canceled', (license) => license.cancel()),

    scene('a machine that its owner freed stops, and can be activated again', async (stage) => {
      const { client, license } = await stage.openLicensed();
      const [machine] = await license.listActive();
      await license.freeMachine(machine?.activation_id ?? '');
      const reason = 'activation_inactive';
      await client.check({ result: failed(reason), state: refused(reason), requests: [VALIDATE] });
      await client.activate(license.key, { result: OK, state: LICENSED });
    }),

    scene('a replaced key stops the program until the new one is entered', async (stage) => {
      const { client, license } = await stage.openLicensed();
      const before = stage.readKept()['activation_id'];
      const key = await license.rekey();
      const reason = 'license_not_found';
      await client.check({ result: failed(reason), state: refused(reason) });
      await client.activate(key, { result: OK, state: LICENSED });
      expectEqual('the activation', stage.readKept()['activation_id'], before);
    }),

    scene('the key of another license ends a refusal', async (stage) => {
      const { client, license } = await stage.openLicensed();
      await license.revoke();
      await client.check({ state: refused('license_revoked') });
      const other = await stage.issue('solo');
      await client.activate(other.key, { result: OK, state: LICENSED_SOLO, requests: [ACTIVATE] });
      await stage.restart(client, { ...LICENSED_SOLO, source: 'kept' });
    }),

    scene('the file of another machine does not run here', async (stage) => {
      const { client } = await stage.openLicensed();
      const machine = { machine_id: 'another machine' };
      const copied = await stage.restart(client, ENTITLEMENT_INVALID, { machine });
      const reason = 'machine_mismatch';
      await copied.check({ result: failed(reason), state: refused(reason) });
    }),

    scene('a check extends the entitlement of a license that was extended', async (stage) => {
      const license = await stage.issue('studio', 3);
      const client = await stage.open();
      await client.activate(license.key, { result: OK, state: { ...LICENSED, days_left: 3 } });
      await license.extend(30);
      await client.check({ result: OK, state: LICENSED, requests: [VALIDATE] });
      await stage.restart(client, LICENSED_KEPT);
    }),

    scene('a license whose updates ended activates, and runs as before', async (stage) => {
      const license = await stage.issue();
      await license.endUpdates();
      const client = await stage.open();
      await client.activate(license.key, { result: OK, state: LICENSED });
      await client.check({ result: OK, state: LICENSED, requests: [VALIDATE] });
      expect('the token names the end of updates', 'updates_until' in readClaims(stage));
      await stage.restart(client, LICENSED_KEPT);
    }),

    scene('each trigger of a check is reported to the service', async (stage) => {
      const { client } = await stage.openLicensed();
      for (const trigger of TRIGGERS) {
        await client.check({ result: OK, state: LICENSED, requests: [VALIDATE] }, trigger);
        expectEqual('the sent trigger', readRequest(stage, VALIDATE)['trigger'], trigger);
      }
    }),

    scene('without a license, calls about it send no request', async (stage) => {
      const client = await stage.open(NOT_ACTIVATED);
      const expected = { result: failed('not_activated'), state: NOT_ACTIVATED, requests: [] };
      await client.check(expected);
      await client.machines(expected);
      await client.deactivate(expected);
      await client.moveHere('0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d', expected);
    }),
  ],
};
