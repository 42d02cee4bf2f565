import { eventually } from '../../../server/test/eventually.ts';
import * as faults from '../proxy/faults.ts';
import {
  ACTIVATE,
  failed,
  LICENSED,
  LICENSED_KEPT,
  LICENSED_SOLO,
  noAnswer,
  NOT_ACTIVATED,
  OK,
} from '../play/expected.ts';
import { scene, type Theme } from '../play/scene.ts';
import { DAY_MS, expectEqual, readRequest } from './steps.ts';

export const ACTIVATION: Theme = {
  name: 'activation',
  scenes: [
    scene('a key from the service activates the machine with one request', async (stage) => {
      const license = await stage.issue();
      const client = await stage.open({ ...NOT_ACTIVATED, source: 'kept', last_answer_at: null });
      await client.activate(license.key, { result: OK, state: LICENSED, requests: [ACTIVATE] });
      expectEqual('active machines', (await license.listActive()).length, 1);
    }),

    scene('a license is ready from disk after a restart without a network', async (stage) => {
      const { client } = await stage.openLicensed();
      await stage.network.refuse();
      const again = await stage.restart(client, LICENSED_KEPT);
      await again.state(LICENSED_KEPT);
    }),

    scene(
      'a license is kept before the answer, so that a power failure does not lose it',
      async (stage) => {
        const { client } = await stage.openLicensed();
        await client.kill();
        await stage.open(LICENSED_KEPT);
      },
    ),

    scene('tier and features are those of the product', async (stage) => {
      const license = await stage.issue('solo');
      const client = await stage.open();
      await client.activate(license.key, { result: OK, state: LICENSED_SOLO });
    }),

    scene('a key is sent in its usual form, however it was typed', async (stage) => {
      const license = await stage.issue();
      const client = await stage.open();
      const typed = ` ${license.key.toLowerCase().replaceAll('-', ' – ')}\n`;
      await client.activate(typed, { result: OK, state: LICENSED });
      expectEqual('the sent key', readRequest(stage, ACTIVATE)['license_key'], license.key);
    }),

    scene('a mistyped key is refused without a request', async (stage) => {
      const { key } = await stage.issue();
      const client = await stage.open();
      const mistyped = key.slice(0, -1) + (key.endsWith('7') ? '8' : '7');
      const expected = { result: failed('key_mistyped'), state: NOT_ACTIVATED, requests: [] };
      await client.activate(mistyped, expected);
      await client.activate('', expected);
      await client.activate(' \n', expected);
    }),

    scene('a key that was issued elsewhere is sent as it is', async (stage) => {
      const client = await stage.open();
      const key = '550e8400-e29b-41d4-a716-446655440000';
      await client.activate(`${key}\n`, {
        result: failed('license_not_found'),
        state: NOT_ACTIVATED,
        requests: [ACTIVATE],
      });
      expectEqual('the sent key', readRequest(stage, ACTIVATE)['license_key'], key);
    }),

    scene('the same machine gets the same activation again', async (stage) => {
      const { client, license } = await stage.openLicensed();
      const before = stage.readKept()['activation_id'];
      await client.activate(license.key, { result: OK, state: LICENSED });
      const other = await stage.open(NOT_ACTIVATED, { folder: stage.otherFolder('reinstalled') });
      await other.activate(license.key, { result: OK, state: LICENSED });
      const after = stage.readKept(stage.otherFolder('reinstalled'))['activation_id'];
      expectEqual('the activation after reinstalling', after, before);
      expectEqual('active machines', (await license.listActive()).length, 1);
    }),

    scene('a machine with a new part keeps its activation', async (stage) => {
      const machine = { ...stage.machine, board_serial: 'CN7016355A' };
      const { client, license } = await stage.openLicensed({ machine });
      const repaired = { ...stage.machine, board_serial: 'CN7016355B' };
      const again = await stage.restart(client, LICENSED_KEPT, { machine: repaired });
      await again.check({ result: OK, state: LICENSED });
      await again.activate(license.key, { result: OK, state: LICENSED });
      expectEqual('active machines', (await license.listActive()).length, 1);
    }),

    scene('a full license is refused with the numbers', async (stage) => {
      const license = await stage.issue();
      await license.activateOn('first machine');
      await license.activateOn('second machine');
      const client = await stage.open();
      await client.activate(license.key, {
        result: { ...failed('activation_limit_reached'), max: 2, current: 2 },
        state: { ...NOT_ACTIVATED, source: 'service' },
        requests: [ACTIVATE],
      });
    }),

    scene(
      'a license that moved too often is refused with the time of the next move',
      async (stage) => {
        const license = await stage.issue('solo');
        for (const machine of ['first machine', 'second machine']) {
          const { activation_id: id } = await license.activateOn(machine);
          await license.deactivate(id, machine);
        }
        const client = await stage.open();
        const { result } = await client.activate(license.key, {
          result: failed('move_limit_reached'),
          state: NOT_ACTIVATED,
        });
        const days = (Date.parse(result?.available_at ?? '') - stage.startMs) / DAY_MS;
        expectEqual('days until the next move', Math.round(days), 30);
        await license.allowMove();
        await client.activate(license.key, { result: OK, state: LICENSED_SOLO });
      },
    ),

    scene('a revoked license is refused, and nothing is kept of it', async (stage) => {
      const license = await stage.issue();
      await license.revoke();
      const client = await stage.open();
      await client.activate(license.key, {
        result: failed('license_revoked'),
        state: NOT_ACTIVATED,
      });
      await stage.restart(client, NOT_ACTIVATED);
    }),

    scene('a refused key does not end the license in use', async (stage) => {
      const { client } = await stage.openLicensed();
      const other = await stage.issue();
      await other.revoke();
      await client.activate(other.key, { result: failed('license_revoked'), state: LICENSED });
      await stage.restart(client, LICENSED_KEPT);
    }),

    scene('another key replaces the license in use', async (stage) => {
      const { client } = await stage.openLicensed();
      const other = await stage.issue('solo');
      await client.activate(other.key, { result: OK, state: LICENSED_SOLO });
      const again = await stage.restart(client, { ...LICENSED_SOLO, source: 'kept' });
      await again.check({ result: OK, state: LICENSED_SOLO });
    }),

    scene('an activation whose answer was lost is found again', async (stage) => {
      const license = await stage.issue('solo');
      const client = await stage.open();
      stage.network.breakWith(faults.loseAnswer);
      await client.activate(license.key, { result: noAnswer('connection'), state: NOT_ACTIVATED });
      await stage.network.repair();
      await client.activate(license.key, { result: OK, state: LICENSED_SOLO });
      expectEqual('active machines', (await license.listActive()).length, 1);
    }),

    scene('a program that is killed during an activation starts as before', async (stage) => {
      const license = await stage.issue();
      const client = await stage.open();
      stage.network.breakWith(faults.hang);
      const interrupted = client.activate(license.key, {}).catch(() => null);
      await eventually(() => stage.network.requests.length > 0);
      await client.kill();
      await interrupted;
      await stage.network.repair();
      const again = await stage.open(NOT_ACTIVATED);
      await again.activate(license.key, { result: OK, state: LICENSED });
    }),
  ],
};
