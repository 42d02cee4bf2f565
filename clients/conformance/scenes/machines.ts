import {
  ACTIVATE,
  DEACTIVATE,
  failed,
  LICENSED,
  LICENSED_KEPT,
  LIST_MACHINES,
  noAnswer,
  NOT_ACTIVATED,
  OK,
} from '../play/expected.ts';
import { scene, type Theme } from '../play/scene.ts';
import { expectEqual } from './steps.ts';

export const MACHINES: Theme = {
  name: 'machines',
  scenes: [
    scene('the list of machines shows which one is this', async (stage) => {
      const { client, license } = await stage.openLicensed();
      const own = stage.readKept()['activation_id'];
      const other = await license.activateOn('another machine');
      const { result } = await client.machines({
        result: OK,
        state: LICENSED,
        requests: [LIST_MACHINES],
      });
      const machines = [...(result?.machines ?? [])].sort((a) => (a.is_this ? -1 : 1));
      expectEqual('the machines', machines, [
        { activation_id: own, is_active: true, is_this: true },
        { activation_id: other.activation_id, is_active: true, is_this: false },
      ]);
    }),

    scene(
      'after the limit is reached, the license moves here from another machine',
      async (stage) => {
        const license = await stage.issue();
        const first = await license.activateOn('first machine');
        await license.activateOn('second machine');
        const client = await stage.open();
        await client.activate(license.key, { result: failed('activation_limit_reached') });
        const { result } = await client.machines({ result: OK, requests: [LIST_MACHINES] });
        expectEqual('machines', result?.machines?.filter((each) => each.is_active).length, 2);
        await client.moveHere(first.activation_id, {
          result: OK,
          state: LICENSED,
          requests: [LIST_MACHINES, DEACTIVATE, ACTIVATE],
        });
        const active = await license.listActive();
        expectEqual('active machines', active.length, 2);
        const isLeft = active.some((each) => each.activation_id === first.activation_id);
        expectEqual('the first machine is active', isLeft, false);
      },
    ),

    scene('a move beyond the limit of moves is refused', async (stage) => {
      const license = await stage.issue('solo');
      const first = await license.activateOn('first machine');
      await license.deactivate(first.activation_id, 'first machine');
      const second = await license.activateOn('second machine');
      const client = await stage.open();
      await client.activate(license.key, { result: failed('activation_limit_reached') });
      await client.moveHere(second.activation_id, {
        result: failed('move_limit_reached'),
        state: NOT_ACTIVATED,
      });
    }),

    scene('an unknown machine cannot be moved from', async (stage) => {
      const { client } = await stage.openLicensed();
      await client.moveHere('0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d', {
        result: failed('activation_not_found'),
        state: LICENSED,
        requests: [LIST_MACHINES],
      });
    }),

    scene('without a network there is no list, and nothing changes', async (stage) => {
      const { client } = await stage.openLicensed();
      await stage.network.refuse();
      await client.machines({ result: noAnswer('connection'), state: LICENSED_KEPT });
    }),
  ],
};
