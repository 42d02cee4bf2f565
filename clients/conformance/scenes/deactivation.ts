import * as faults from '../proxy/faults.ts';
import {
  DEACTIVATE,
  failed,
  LICENSED,
  LICENSED_KEPT,
  noAnswer,
  NOT_ACTIVATED,
  OK,
  VALIDATE,
} from '../play/expected.ts';
import { scene, type Theme } from '../play/scene.ts';
import { expect, expectEqual } from './steps.ts';

export const DEACTIVATION: Theme = {
  name: 'deactivation',
  scenes: [
    scene('a deactivated machine is free, and keeps no license', async (stage) => {
      const { client, license } = await stage.openLicensed();
      await client.deactivate({ result: OK, state: NOT_ACTIVATED, requests: [DEACTIVATE] });
      expectEqual('active machines', (await license.listActive()).length, 0);
      expect('the file contains the key', !stage.readFile().includes(license.key));
      const again = await stage.restart(client, NOT_ACTIVATED);
      await again.deactivate({ result: failed('not_activated'), requests: [] });
      await again.activate(license.key, { result: OK, state: LICENSED });
    }),

    scene('without a network, the machine runs until the deactivation worked', async (stage) => {
      const { client, license } = await stage.openLicensed();
      await stage.network.refuse();
      await client.deactivate({ result: noAnswer('connection'), state: LICENSED_KEPT });
      await client.check({ result: noAnswer('connection'), state: LICENSED_KEPT });
      await stage.network.repair();
      const requests = [DEACTIVATE];
      await client.check({ result: failed('not_activated'), state: NOT_ACTIVATED, requests });
      expectEqual('active machines', (await license.listActive()).length, 0);
    }),

    scene('a deactivation without a network is continued after a restart', async (stage) => {
      const { client, license } = await stage.openLicensed();
      await stage.network.refuse();
      await client.deactivate({ result: noAnswer('connection'), state: LICENSED_KEPT });
      const again = await stage.restart(client, LICENSED_KEPT);
      await stage.network.repair();
      const requests = [DEACTIVATE];
      await again.check({ result: failed('not_activated'), state: NOT_ACTIVATED, requests });
      expectEqual('active machines', (await license.listActive()).length, 0);
    }),

    scene('a deactivation whose answer was lost is repeated', async (stage) => {
      const { client, license } = await stage.openLicensed();
      stage.network.breakWith(faults.loseAnswer);
      await client.deactivate({ result: noAnswer('connection'), state: LICENSED_KEPT });
      await stage.network.repair();
      await client.deactivate({ result: OK, state: NOT_ACTIVATED, requests: [DEACTIVATE] });
      expectEqual('active machines', (await license.listActive()).length, 0);
    }),

    scene('an activation cancels a deactivation that was not sent', async (stage) => {
      const { client, license } = await stage.openLicensed();
      await stage.network.refuse();
      await client.deactivate({ result: noAnswer('connection') });
      await stage.network.repair();
      await client.activate(license.key, { result: OK, state: LICENSED });
      await client.check({ result: OK, state: LICENSED, requests: [VALIDATE] });
      expectEqual('active machines', (await license.listActive()).length, 1);
    }),

    scene('an activation that the service does not know is removed here, too', async (stage) => {
      const { client, license } = await stage.openLicensed();
      await license.rekey();
      await client.deactivate({ result: OK, state: NOT_ACTIVATED, requests: [DEACTIVATE] });
    }),

    scene('the license is not removed because of a wrong path or a page', async (stage) => {
      const { client } = await stage.openLicensed();
      stage.network.breakWith(faults.answerProblem(404, 'not_found'));
      await client.deactivate({ result: failed('not_found'), state: LICENSED });
      stage.network.breakWith(faults.answerHtml(404));
      await client.deactivate({ result: noAnswer('portal'), state: LICENSED_KEPT });
      await stage.network.repair();
      await client.deactivate({ result: OK, state: NOT_ACTIVATED });
    }),

    scene('a license that was refunded can be deactivated', async (stage) => {
      const { client, license } = await stage.openLicensed();
      await license.refund();
      await client.check({ result: failed('license_refunded') });
      await client.deactivate({ result: OK, state: NOT_ACTIVATED, requests: [DEACTIVATE] });
    }),
  ],
};
