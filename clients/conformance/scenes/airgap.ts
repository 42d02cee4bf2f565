import { createHash } from 'node:crypto';

import {
  failed,
  LICENSED,
  LICENSED_KEPT,
  noAnswer,
  NOT_ACTIVATED,
  OK,
  VALIDATE,
} from '../play/expected.ts';
import { scene, type Theme } from '../play/scene.ts';
import type { Stage } from '../play/stage.ts';
import { expect, expectEqual } from './steps.ts';

/** The state of a machine with an entitlement for use without a connection, which no answer followed. */
const AIRGAPPED = { ...LICENSED_KEPT, days_left: 90, last_answer_at: null };

/** A machine without a connection has the time of its own clock alone. */
const OFFLINE = { nowMs: null };

async function openOffline(stage: Stage) {
  await stage.network.refuse();
  return stage.open(NOT_ACTIVATED, OFFLINE);
}

/** Returns the content of a request, whose check must be right. */
function readOfflineRequest(request: string): Readonly<Record<string, unknown>> {
  const [version, payload = '', check = ''] = request.split('.');
  const digest = createHash('sha256').update(`${version}.${payload}`).digest('base64url');
  expectEqual('the version of the request', version, 'LKR1');
  expectEqual('the check of the request', check, digest.slice(0, 10));
  const json: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString());
  return typeof json === 'object' && json !== null ? { ...json } : {};
}

/** What is expected of a text that is not the answer to the open request. */
function refusal(code: string) {
  return { result: failed(code), state: NOT_ACTIVATED };
}

/** Breaks a text into lines, as programs for mail do with an answer. */
function quote(text: string): string {
  return (text.match(/.{1,60}/gu) ?? []).map((line) => `> ${line}`).join('\r\n');
}

export const AIRGAP: Theme = {
  name: 'air-gapped',
  scenes: [
    scene('a machine without a connection is activated by a text and its answer', async (stage) => {
      const license = await stage.issue();
      const client = await openOffline(stage);
      const request = await client.offlineRequest('studio', 'Lab PC 3');
      const content = readOfflineRequest(request);
      expectEqual('the product', content['product'], 'studio');
      expectEqual('the name', content['name'], 'Lab PC 3');
      expect(
        'the nonce has 16 to 64 characters of base64url',
        /^[\w-]{16,64}$/u.test(String(content['nonce'])),
      );
      const answer = await license.activateAirgapped(request);
      await client.acceptOffline(answer, { result: OK, state: AIRGAPPED });
      await stage.restart(client, AIRGAPPED, OFFLINE);
    }),

    scene('an answer is found in a pasted mail', async (stage) => {
      const license = await stage.issue();
      const client = await openOffline(stage);
      const request = await client.offlineRequest('studio', null);
      const answer = await license.activateAirgapped(request);
      const text = `Hello Ann,\r\n\r\nhere is your answer:\r\n\r\n${quote(answer)}\r\n\r\nRegards, Robin`;
      await client.acceptOffline(text, { result: OK, state: AIRGAPPED });
    }),

    scene('an answer with line breaks and blanks inside is accepted', async (stage) => {
      const license = await stage.issue();
      const client = await openOffline(stage);
      const request = await client.offlineRequest('studio', null);
      const answer = await license.activateAirgapped(request);
      const text = `\n  ${answer.replaceAll(/(.{70})/gu, '$1\n\t')} \n`;
      await client.acceptOffline(text, { result: OK, state: AIRGAPPED });
    }),

    scene('an open request survives a restart, and keeps its nonce', async (stage) => {
      const license = await stage.issue();
      const client = await openOffline(stage);
      const first = readOfflineRequest(await client.offlineRequest('studio', null));
      const again = await stage.restart(client, NOT_ACTIVATED, OFFLINE);
      const request = await again.offlineRequest('studio', null);
      expectEqual('the nonce', readOfflineRequest(request)['nonce'], first['nonce']);
      const answer = await license.activateAirgapped(request);
      const last = await stage.restart(again, NOT_ACTIVATED, OFFLINE);
      await last.acceptOffline(answer, { result: OK, state: AIRGAPPED });
    }),

    scene('the answer to another request is refused', async (stage) => {
      const license = await stage.issue();
      const client = await openOffline(stage);
      await client.offlineRequest('studio', null);
      const options = { ...OFFLINE, folder: stage.otherFolder('other') };
      const other = await stage.open(NOT_ACTIVATED, options);
      const answer = await license.activateAirgapped(await other.offlineRequest('studio', null));
      await client.acceptOffline(answer, {
        result: failed('entitlement_nonce'),
        state: NOT_ACTIVATED,
      });
    }),

    scene('an answer without a request is refused', async (stage) => {
      const license = await stage.issue();
      const client = await openOffline(stage);
      const options = { ...OFFLINE, folder: stage.otherFolder('other') };
      const other = await stage.open(NOT_ACTIVATED, options);
      const answer = await license.activateAirgapped(await other.offlineRequest('studio', null));
      const expected = { result: failed('entitlement_nonce'), state: NOT_ACTIVATED };
      await client.acceptOffline(answer, expected);
      await other.acceptOffline(answer, { result: OK, state: AIRGAPPED });
      await other.acceptOffline(answer, { result: failed('entitlement_nonce'), state: AIRGAPPED });
    }),

    scene('the answer for another machine is refused', async (stage) => {
      const license = await stage.issue();
      const client = await openOffline(stage);
      const request = await client.offlineRequest('studio', null);
      const answer = await license.activateAirgapped(request);
      const machine = { machine_id: 'another machine' };
      const copied = await stage.restart(client, NOT_ACTIVATED, { ...OFFLINE, machine });
      await copied.acceptOffline(answer, {
        result: failed('entitlement_machine'),
        state: NOT_ACTIVATED,
      });
    }),

    scene('a text without an answer is refused, and a cut or changed one', async (stage) => {
      const license = await stage.issue();
      const client = await openOffline(stage);
      const request = await client.offlineRequest('studio', null);
      const answer = await license.activateAirgapped(request);
      const [header = '', payload = '', signature = ''] = answer.split('.');
      const changed = `${header}.${payload}.${signature.replace(/^./u, (first) => (first === 'A' ? 'B' : 'A'))}`;
      await client.acceptOffline('', refusal('entitlement_malformed'));
      await client.acceptOffline('The answer follows tomorrow.', refusal('entitlement_malformed'));
      await client.acceptOffline(`${header}.${payload}`, refusal('entitlement_malformed'));
      await client.acceptOffline(changed, refusal('entitlement_signature'));
      await client.acceptOffline(answer, { result: OK, state: AIRGAPPED });
    }),

    scene('an answer is renewed by another request', async (stage) => {
      const license = await stage.issue();
      const client = await openOffline(stage);
      const first = await client.offlineRequest('studio', null);
      await client.acceptOffline(await license.activateAirgapped(first), { result: OK });
      const second = await client.offlineRequest('studio', null);
      expect('the second request has a nonce of its own', second !== first);
      const answer = await license.activateAirgapped(second);
      await client.acceptOffline(answer, { result: OK, state: AIRGAPPED });
      expectEqual('active machines', (await license.listActive()).length, 1);
    }),

    scene('an accepted answer cancels a deactivation that was not sent', async (stage) => {
      const { client, license } = await stage.openLicensed(OFFLINE);
      await stage.network.refuse();
      await client.deactivate({ result: noAnswer('connection'), state: LICENSED_KEPT });
      const request = await client.offlineRequest('studio', null);
      const answer = await license.activateAirgapped(request);
      const state = { ...LICENSED_KEPT, days_left: 90 };
      await client.acceptOffline(answer, { result: OK, state });
      await stage.network.repair();
      await client.check({ result: OK, state: { may_run: true }, requests: [VALIDATE] });
      expectEqual('active machines', (await license.listActive()).length, 1);
    }),

    scene('a key replaces an entitlement for use without a connection', async (stage) => {
      const license = await stage.issue();
      const client = await openOffline(stage);
      const request = await client.offlineRequest('studio', null);
      await client.acceptOffline(await license.activateAirgapped(request), { state: AIRGAPPED });
      await client.check({ result: failed('not_activated'), state: AIRGAPPED, requests: [] });
      await stage.network.repair();
      await client.activate(license.key, { result: OK, state: LICENSED });
    }),
  ],
};
