import { lookup } from 'node:dns/promises';
import { setTimeout } from 'node:timers/promises';

import type { Fault } from '../proxy/fault-proxy.ts';
import * as faults from '../proxy/faults.ts';
import {
  ACTIVATE,
  failed,
  LICENSED,
  LICENSED_KEPT,
  noAnswer,
  NOT_ACTIVATED,
  OK,
  VALIDATE,
} from '../play/expected.ts';
import { scene, SkippedError, type Scene, type Theme } from '../play/scene.ts';
import { expectEqual, readDecision } from './steps.ts';

const TWO_MEGABYTES = 2 * 1024 * 1024;

/** The timeout of a client that is not answered. */
const SHORT_TIMEOUT_MS = 700;

/** The timeout of the resolver, shorter than that of a client. */
const RESOLVER_TIMEOUT_MS = 2_000;

/** Whether the resolver of this computer answers in time that a name does not exist. */
async function isUnknownName(name: string): Promise<boolean> {
  const answer = lookup(name).then(
    () => false,
    () => true,
  );
  const timer = setTimeout(RESOLVER_TIMEOUT_MS, false, { ref: false });
  return Promise.race([answer, timer]);
}

/** A check that meets a fault changes nothing, sends one request, and works when the fault is over. */
function changesNothing(what: string, cause: string, fault: Fault, timeoutMs?: number): Scene {
  return scene(`a check changes nothing: ${what} (${cause})`, async (stage) => {
    const { client } = await stage.openLicensed();
    const before = readDecision(stage);
    const options = timeoutMs === undefined ? {} : { timeoutMs };
    const patient = await stage.restart(client, LICENSED_KEPT, options);
    stage.network.breakWith(fault);
    await patient.check({ result: noAnswer(cause), state: LICENSED_KEPT, requests: [VALIDATE] });
    expectEqual('the kept state', readDecision(stage), before);
    await stage.network.repair();
    const usual = timeoutMs === undefined ? patient : await stage.restart(patient, LICENSED_KEPT);
    await usual.check({ result: OK, state: LICENSED, requests: [VALIDATE] });
  });
}

/** A refusal that is not about the license is reported, and changes nothing. */
function isNoRefusal(what: string, status: number, code: string): Scene {
  return scene(`a check changes nothing: ${what}`, async (stage) => {
    const { client } = await stage.openLicensed();
    const before = readDecision(stage);
    stage.network.breakWith(faults.answerProblem(status, code));
    await client.check({ result: failed(code), state: LICENSED, requests: [VALIDATE] });
    expectEqual('the kept state', readDecision(stage), before);
  });
}

/** An activation that meets a fault keeps nothing, and works when the fault is over. */
function activatesLater(what: string, cause: string, fault: Fault): Scene {
  return scene(`an activation is repeated later: ${what} (${cause})`, async (stage) => {
    const license = await stage.issue('studio');
    const client = await stage.open();
    stage.network.breakWith(fault);
    await client.activate(license.key, {
      result: noAnswer(cause),
      state: { ...NOT_ACTIVATED, source: 'kept' },
      requests: [ACTIVATE],
    });
    await stage.network.repair();
    await client.activate(license.key, { result: OK, state: LICENSED });
    expectEqual('active machines', (await license.listActive()).length, 1);
  });
}

const WRONG_ANSWERS: readonly (readonly [string, Fault])[] = [
  ['half of the JSON', faults.cutJson],
  ['an empty body', faults.answerText(200, '')],
  ['no content', faults.answerText(204, '')],
  ['a page with 200', faults.answerHtml(200)],
  ['a page with 403', faults.answerHtml(403)],
  ['a page with 404', faults.answerHtml(404)],
  ['a redirect to a login page', faults.redirect(302, '/login')],
  ['a permanent redirect to a login page', faults.redirect(301, '/login')],
  ['a redirect that keeps the method', faults.redirect(307, '/api/v1/licenses/validate?again')],
  ['JSON that is no object', faults.answerJson(200, ['valid'])],
  ['the JSON of another program', faults.answerJson(200, { status: 'ok' })],
  ['valid as a text', faults.editJson({ valid: 'true' })],
  ['valid without an entitlement', faults.editJson({ entitlement: null })],
  ['valid with an entitlement that is no text', faults.editJson({ entitlement: { exp: 1 } })],
  ['invalid without a reason', faults.answerJson(200, { valid: false, status: 'active' })],
  ['invalid with a reason that is no text', faults.answerJson(200, { valid: false, reason: 1 })],
  ['invalid with 201', faults.answerJson(201, { valid: false, reason: 'license_revoked' })],
  ['403 without a code', faults.answerJson(403, { error: 'forbidden' })],
  [
    '403 whose JSON has another status',
    faults.answerJson(403, { status: 200, code: 'license_revoked' }),
  ],
  ['a body of two megabytes', faults.editJson({ padding: 'x'.repeat(TWO_MEGABYTES) })],
];

const BUSY_ANSWERS: readonly (readonly [string, Fault])[] = [
  ['429', faults.answerProblem(429, 'rate_limited', { 'retry-after': '120' })],
  ['429 without a time', faults.answerHtml(429)],
  ['429 with a date', faults.answerHtml(429, { 'retry-after': 'Fri, 31 Dec 2027 23:59:59 GMT' })],
  ['503', faults.answerProblem(503, 'overloaded', { 'retry-after': '5' })],
  ['a page with 502', faults.answerHtml(502)],
  [
    '500 that looks like a refusal',
    faults.answerJson(500, { valid: false, reason: 'license_revoked' }),
  ],
];

export const NETWORK: Theme = {
  name: 'network',
  scenes: [
    ...WRONG_ANSWERS.map(([what, fault]) => changesNothing(what, 'portal', fault)),
    ...BUSY_ANSWERS.map(([what, fault]) => changesNothing(what, 'busy', fault)),
    changesNothing('a proxy that wants a password', 'proxy', faults.answerHtml(407)),
    changesNothing('a closed connection', 'connection', faults.closeConnection),
    changesNothing('a connection that breaks inside the body', 'connection', faults.cutBody),
    changesNothing('no answer', 'timeout', faults.hang, SHORT_TIMEOUT_MS),
    changesNothing('a body that trickles', 'timeout', faults.trickle, SHORT_TIMEOUT_MS),
    isNoRefusal('an unknown path', 404, 'not_found'),
    isNoRefusal('a forbidden path', 403, 'forbidden'),
    isNoRefusal('a request that could not be read', 400, 'bad_request'),
    activatesLater('a login page', 'portal', faults.answerHtml(200)),
    activatesLater('a redirect to a login page', 'portal', faults.redirect(302, '/login')),
    activatesLater('503', 'busy', faults.answerProblem(503, 'starting')),
    activatesLater('half of the JSON', 'portal', faults.cutJson),
    activatesLater(
      'an answer without an entitlement',
      'portal',
      faults.editJson({ entitlement: null }),
    ),
    activatesLater(
      'an answer without an activation',
      'portal',
      faults.editJson({ activation_id: 7 }),
    ),

    scene('a check changes nothing: a refused connection (connection)', async (stage) => {
      const { client } = await stage.openLicensed();
      await stage.network.refuse();
      await client.check({ result: noAnswer('connection'), state: LICENSED_KEPT });
      await stage.network.repair();
      await client.check({ result: OK, state: LICENSED });
    }),

    scene('a check changes nothing: a name that does not exist (dns)', async (stage) => {
      if (!(await isUnknownName('license.invalid'))) {
        throw new SkippedError('the resolver does not answer for unknown names');
      }
      const { client } = await stage.openLicensed();
      const lost = await stage.restart(client, LICENSED_KEPT, {
        service: 'http://license.invalid',
      });
      await lost.check({ result: noAnswer('dns'), state: LICENSED_KEPT });
    }),

    scene('a check changes nothing: a certificate of an unknown authority (tls)', async (stage) => {
      const { certificate } = stage.dependencies;
      if (certificate === null) throw new SkippedError('no openssl');
      const { client } = await stage.openLicensed();
      const secure = await stage.openNetwork({ certificate });
      const options = { service: secure.url };
      const inspected = await stage.restart(client, LICENSED_KEPT, options);
      await inspected.check({ result: noAnswer('tls'), state: LICENSED_KEPT });
      expectEqual('requests over the untrusted connection', secure.requests.length, 0);
    }),

    scene('a license runs through ten faults in turn', async (stage) => {
      const { client } = await stage.openLicensed();
      for (const [, fault] of [...WRONG_ANSWERS.slice(0, 5), ...BUSY_ANSWERS.slice(0, 5)]) {
        stage.network.breakWith(fault);
        await client.check({ state: LICENSED_KEPT });
      }
      await stage.network.repair();
      await client.check({ result: OK, state: LICENSED });
    }),
  ],
};
