import * as faults from '../proxy/faults.ts';
import {
  ACTIVATE,
  ENTITLEMENT_INVALID,
  KEY_SET,
  LICENSED,
  LICENSED_KEPT,
  noAnswer,
  NOT_ACTIVATED,
  OK,
  VALIDATE,
} from '../play/expected.ts';
import { scene, type Theme } from '../play/scene.ts';
import { FOREIGN_KEY } from '../vectors/sign-token.ts';
import { fakeActivation } from './fake-service.ts';
import { expectEqual, readDecision } from './steps.ts';

const JWKS = /jwks\.json$/u;

export const SIGNING_KEYS: Theme = {
  name: 'signing keys',
  changesService: true,
  scenes: [
    scene('a client without a compiled-in key fetches and keeps it', async (stage) => {
      const license = await stage.issue();
      const options = { publicKeys: [] };
      const client = await stage.open(NOT_ACTIVATED, options);
      const requests = [ACTIVATE, KEY_SET];
      await client.activate(license.key, { result: OK, state: LICENSED, requests });
      await client.check({ result: OK, state: LICENSED, requests: [VALIDATE] });
      await stage.network.refuse();
      await stage.restart(client, LICENSED_KEPT, options);
    }),

    scene(
      'a new signing key is fetched once, and the old entitlement stays valid until then',
      async (stage) => {
        const { client } = await stage.openLicensed();
        await stage.dependencies.service.rotateSigningKey();
        const again = await stage.restart(client, LICENSED_KEPT);
        const requests = [VALIDATE, KEY_SET];
        await again.check({ result: OK, state: LICENSED, requests });
        await again.check({ result: OK, state: LICENSED, requests: [VALIDATE] });
        await stage.network.refuse();
        await stage.restart(again, LICENSED_KEPT);
      },
    ),

    scene('a new signing key that cannot be fetched changes nothing', async (stage) => {
      const { client } = await stage.openLicensed();
      const before = readDecision(stage);
      await stage.dependencies.service.rotateSigningKey();
      stage.network.breakWith(faults.answerHtml(200), JWKS);
      await client.check({ result: noAnswer('portal'), state: LICENSED_KEPT });
      stage.network.breakWith(faults.answerJson(200, { keys: 'none' }), JWKS);
      await client.check({ result: noAnswer('portal'), state: LICENSED_KEPT });
      expectEqual('the kept state', readDecision(stage), before);
      await stage.network.repair();
      await client.check({ result: OK, state: LICENSED });
    }),

    scene('invalid keys in the key set are ignored', async (stage) => {
      const license = await stage.issue();
      const keys = await stage.dependencies.service.client.listPublicKeys();
      const invalid = [null, 'key', { kid: 7 }, { kty: 'EC', crv: 'P-256', kid: 'ec' }];
      stage.network.breakWith(faults.answerJson(200, { keys: [...invalid, ...keys] }), JWKS);
      const client = await stage.open(NOT_ACTIVATED, { publicKeys: [] });
      await client.activate(license.key, { result: OK, state: LICENSED });
    }),

    scene(
      'a service that signs with its own key under the known id gains nothing',
      async (stage) => {
        const { key } = await stage.issue();
        const [known] = await stage.dependencies.service.client.listPublicKeys();
        const fake = fakeActivation(stage, FOREIGN_KEY, known?.['kid']);
        stage.network.breakWith(faults.answerJson(200, fake));
        const client = await stage.open(NOT_ACTIVATED);
        const requests = [ACTIVATE];
        await client.activate(key, { result: noAnswer('portal'), state: NOT_ACTIVATED, requests });
      },
    ),

    scene('a fetched key does not replace the compiled-in one of the same id', async (stage) => {
      const { client } = await stage.openLicensed();
      const published = await stage.dependencies.service.client.listPublicKeys();
      const replaced = published.map((key) => ({ ...key, x: FOREIGN_KEY.publicJwk.x }));
      await stage.dependencies.service.rotateSigningKey();
      stage.network.breakWith(faults.answerJson(200, { keys: replaced }), JWKS);
      await client.check({ result: noAnswer('portal'), state: LICENSED_KEPT });
      await stage.restart(client, LICENSED_KEPT);
    }),

    scene(
      'a service with its own key cannot extend a license whose keys are not fetched',
      async (stage) => {
        const { client } = await stage.openLicensed();
        const before = readDecision(stage);
        const fake = { ...fakeActivation(stage, FOREIGN_KEY), valid: true };
        stage.network.breakWith(faults.answerJson(200, fake), /validate$/u);
        const requests = [VALIDATE, KEY_SET];
        await client.check({ result: noAnswer('portal'), state: LICENSED_KEPT, requests });
        expectEqual('the kept state', readDecision(stage), before);
      },
    ),

    scene('keys are not fetched from another computer without TLS', async (stage) => {
      const license = await stage.issue();
      const host = stage.outsideAddress();
      const outside = await stage.openNetwork({ host });
      const client = await stage.open(NOT_ACTIVATED, { service: outside.url, publicKeys: [] });
      await client.activate(license.key, { result: noAnswer('portal'), state: NOT_ACTIVATED });
      const fetched = outside.requests.filter(({ path }) => JWKS.test(path));
      expectEqual('requests for keys', fetched.length, 0);
    }),

    scene('the answer for another machine does not count', async (stage) => {
      const license = await stage.issue();
      const { entitlement } = await license.activateOn('another machine');
      const client = await stage.open();
      stage.network.breakWith(faults.editJson({ entitlement }));
      await client.activate(license.key, { result: noAnswer('portal'), state: NOT_ACTIVATED });
    }),

    scene('a license for another program does not count', async (stage) => {
      const license = await stage.issue('server');
      const client = await stage.open();
      await client.activate(license.key, { result: noAnswer('portal'), state: NOT_ACTIVATED });
    }),

    scene('the entitlement of another issuer does not count', async (stage) => {
      const license = await stage.issue();
      const options = { issuer: 'https://other.example.com' };
      const client = await stage.open(NOT_ACTIVATED, options);
      await client.activate(license.key, { result: noAnswer('portal'), state: NOT_ACTIVATED });
      const right = await stage.restart(client, NOT_ACTIVATED);
      await right.activate(license.key, { result: OK, state: LICENSED });
      await stage.restart(right, ENTITLEMENT_INVALID, options);
    }),
  ],
};
