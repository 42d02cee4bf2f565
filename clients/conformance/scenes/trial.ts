import {
  ended,
  failed,
  LICENSED,
  noAnswer,
  NOT_ACTIVATED,
  OK,
  refused,
  START_TRIAL,
  TRIAL,
  VALIDATE,
} from '../play/expected.ts';
import { scene, type Theme } from '../play/scene.ts';
import type { Stage } from '../play/stage.ts';
import type { License } from '../service/license.ts';
import { DAY_MS, expectEqual } from './steps.ts';

/** Returns the license of the trial that the client keeps. */
function findTrial(stage: Stage): Promise<License> {
  const { key } = stage.readKept();
  return stage.dependencies.service.findLicense(typeof key === 'string' ? key : '');
}

export const TRIALS: Theme = {
  name: 'trial',
  scenes: [
    scene('a trial begins with one request', async (stage) => {
      const client = await stage.open(NOT_ACTIVATED);
      await client.startTrial({ result: OK, state: TRIAL, requests: [START_TRIAL] });
      const again = await stage.restart(client, { ...TRIAL, source: 'kept' });
      await again.check({ result: OK, state: TRIAL });
    }),

    scene('a second trial on the same machine is the first one', async (stage) => {
      const client = await stage.open();
      await client.startTrial({ result: OK, state: TRIAL });
      const { key, activation_id: activation } = stage.readKept();
      await client.startTrial({ result: OK, state: TRIAL });
      const folder = stage.otherFolder('reinstalled');
      const reinstalled = await stage.open(NOT_ACTIVATED, { folder });
      await reinstalled.startTrial({ result: OK, state: TRIAL });
      const kept = stage.readKept(folder);
      expectEqual('the key', kept['key'], key);
      expectEqual('the activation', kept['activation_id'], activation);
    }),

    scene('a first start without a network waits for the trial', async (stage) => {
      await stage.network.refuse();
      const client = await stage.open(NOT_ACTIVATED);
      await client.startTrial({ result: noAnswer('connection'), state: NOT_ACTIVATED });
      const again = await stage.restart(client, NOT_ACTIVATED);
      await stage.network.repair();
      await again.startTrial({ result: OK, state: TRIAL });
    }),

    scene('a trial that was not answered is started by the next check', async (stage) => {
      await stage.network.refuse();
      const client = await stage.open(NOT_ACTIVATED);
      await client.startTrial({ result: noAnswer('connection'), state: NOT_ACTIVATED });
      const again = await stage.restart(client, NOT_ACTIVATED);
      await again.check({ result: noAnswer('connection'), state: NOT_ACTIVATED });
      await stage.network.repair();
      await again.check({ result: OK, state: TRIAL, requests: [START_TRIAL] });
      await again.check({ result: OK, state: TRIAL, requests: [VALIDATE] });
    }),

    scene('a license that runs needs no trial', async (stage) => {
      const { client } = await stage.openLicensed();
      await client.startTrial({
        result: failed('already_licensed'),
        state: LICENSED,
        requests: [],
      });
    }),

    scene('a trial ends by the clock, also without a network', async (stage) => {
      const client = await stage.open();
      await client.startTrial({ result: OK, state: TRIAL });
      await stage.network.refuse();
      await client.setClock(stage.startMs + 8 * DAY_MS, ended('license_expired'));
      await stage.restart(client, ended('license_expired'), { nowMs: stage.startMs + 8 * DAY_MS });
    }),

    scene('a trial that ended is not granted again after reinstalling', async (stage) => {
      const client = await stage.open();
      await client.startTrial({ result: OK, state: TRIAL });
      await (await findTrial(stage)).expire();
      await client.check({ result: failed('trial_expired'), state: refused('trial_expired') });
      const folder = stage.otherFolder('reinstalled');
      const reinstalled = await stage.open(NOT_ACTIVATED, { folder });
      await reinstalled.startTrial({ result: failed('trial_expired'), state: NOT_ACTIVATED });
    }),

    scene('a key replaces a trial, also after its end', async (stage) => {
      const license = await stage.issue();
      const client = await stage.open();
      await client.startTrial({ result: OK, state: TRIAL });
      await (await findTrial(stage)).expire();
      await client.check({ state: refused('trial_expired') });
      await client.activate(license.key, { result: OK, state: LICENSED });
    }),
  ],
};
