/** What must work after an upgrade: with the keys, tokens and secrets that an earlier release gave out, and with new data. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

import { LicenseValidateResponse, PublicJwk, TrialStartResponse } from '@latchkey/contract';
import { compactVerify, createLocalJWKSet } from 'jose';
import { Webhook } from 'standardwebhooks';
import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import { eventually } from '../../../../server/test/eventually.ts';
import type { WebhookReceiver } from '../../../../server/test/webhook-receiver.ts';
import type { Fixture } from '../../upgrade/fixture.ts';
import { activateLicense } from '../licensed-machine.ts';
import { postTo } from '../post.ts';

/** The secret of payments in the tests' settings. */
export const PAYMENT_SECRET = `whsec_${Buffer.from('payments of the tests of upgrades').toString('base64')}`;

/** A running service with the data of an earlier release. */
export interface UpgradedService {
  readonly url: string;
  readonly fixture: Fixture;
  /** Listens at the endpoint of the earlier release. */
  readonly receiver: WebhookReceiver;
  /** Runs a command on its data and returns what it prints. */
  readonly run: (...args: readonly string[]) => Promise<string>;
}

type Check = (service: UpgradedService) => Promise<void>;

/** By name, in the form of a test. */
export const CHECKS: Readonly<Record<string, Check>> = {
  'validates a license on its machine': validateLicense,
  'signs with the key of earlier entitlements': verifyEntitlement,
  'grants no second trial to a machine': repeatTrial,
  'accepts API keys and the password of an operator': useCredentials,
  'issues, activates and validates a license': issueLicense,
  'turns a payment into a license, and sends it to an endpoint': payForLicense,
  'reports the same numbers of machines': compareReport,
  'has an intact audit log with every earlier entry': verifyAuditLog,
};

async function validateLicense({ url, fixture }: UpgradedService): Promise<void> {
  const { activation_id, license_key, machine_id } = fixture;
  const validated = await postTo(url)('validate', { activation_id, license_key, machine_id });
  assert.equal(Parse(LicenseValidateResponse, validated).valid, true);
}

const KeySet = Type.Object({ keys: Type.Array(PublicJwk) });

/** The entitlement expired long ago; its signature is valid as long as the key is published. */
async function verifyEntitlement({ url, fixture }: UpgradedService): Promise<void> {
  const { keys } = Parse(KeySet, await (await fetch(`${url}/.well-known/jwks.json`)).json());
  await compactVerify(fixture.entitlement, createLocalJWKSet({ keys }));
}

async function repeatTrial({ url, fixture }: UpgradedService): Promise<void> {
  const body = { machine_fingerprint: { machine_id: fixture.machine_id } };
  const response = await postJson(`${url}/api/v1/trial/start`, body);
  const { license_key } = Parse(TrialStartResponse, await response.json());
  assert.equal(license_key, fixture.trial_license_key);
}

async function useCredentials({ url, fixture }: UpgradedService): Promise<void> {
  const { admin_api_key, metrics_api_key, operator } = fixture;
  const get = (path: string, key: string) => fetch(url + path, { headers: { 'x-api-key': key } });
  const statuses = [
    (await get('/api/v1/admin/overview', admin_api_key)).status,
    (await get('/metrics', metrics_api_key)).status,
    (await postJson(`${url}/api/v1/admin/session`, operator, { origin: url })).status,
  ];
  assert.deepEqual(statuses, [200, 200, 200]);
}

const Issued = Type.Object({ license_key: Type.String() });

async function issueLicense({ url, run }: UpgradedService): Promise<void> {
  const issued = await run('license', 'issue', '--product', 'studio', '--json');
  const { license_key } = Parse(Issued, JSON.parse(issued));
  const machine = await activateLicense(postTo(url), license_key);
  assert.equal(await machine.validate(), true);
}

/** The endpoint verifies the message with the secret that the earlier release printed. */
async function payForLicense({ url, fixture, receiver }: UpgradedService): Promise<void> {
  const order = `order-${randomUUID()}`;
  await payFor(url, order);
  // Other endpoints of the release have the same port.
  const { pathname } = new URL(fixture.endpoint.url);
  const find = () =>
    receiver.received.find(({ path, body }) => path === pathname && body.includes(order));
  await eventually(() => find() !== undefined, { describe: () => 'no webhook for the license' });
  const { body = '', headers = {} } = find() ?? {};
  const signed = Object.entries(headers).map(([name, value]) => [name, String(value)]);
  const message = new Webhook(fixture.endpoint.secret).verify(body, Object.fromEntries(signed));
  assert.partialDeepStrictEqual(message, { type: 'license.created', data: { product: 'home' } });
}

/** Sends the event of a payment as a shop does, whose buyer's address begins with the order. */
async function payFor(url: string, order: string): Promise<void> {
  const at = new Date();
  const customer = { id: order, email: `${order}@contour.example` };
  const data = { transaction_id: order, customer, lines: [{ price_id: 'home-once' }], total: 1 };
  const body = JSON.stringify({ type: 'purchase.completed', timestamp: at.toISOString(), data });
  const headers = {
    'content-type': 'application/json',
    'webhook-id': order,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(PAYMENT_SECRET).sign(order, at, body),
  };
  const paid = await fetch(`${url}/api/v1/webhooks/standard`, { method: 'POST', headers, body });
  assert.equal(paid.status, 200, await paid.text());
}

async function compareReport({ fixture, run }: UpgradedService): Promise<void> {
  const { from, to, rows } = fixture.report;
  const report = await run('report', 'machines', '--from', from, '--to', to, '--json');
  assert.ok(rows.length > 0);
  assert.deepEqual(JSON.parse(report).rows, rows);
}

async function verifyAuditLog({ fixture, run }: UpgradedService): Promise<void> {
  const verified = await run('audit', 'verify', '--expect', fixture.audit_head);
  assert.match(verified, /^The audit log is intact, and contains the expected entry/);
}

function postJson(
  url: string,
  body: object,
  more: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const headers = { 'content-type': 'application/json', ...more };
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
}
