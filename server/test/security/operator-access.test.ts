/** Each operation of the operator interface, tried with each credential. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';

import { OPERATOR_ROLES, type OperatorRole } from '@latchkey/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';

import type { App } from '#server/http/app-instance.ts';
import type { OperatorAccess } from '#server/http/require-operator.ts';
import { createMetrics } from '#server/metrics.ts';

import { describeOperations, isAdminRoute, type Operation } from '../admin-routes.ts';
import { createKey } from '../api-key-steps.ts';
import { startTestService, TEST_ISSUER } from '../harness.ts';
import type { Answer, RequestHeaders } from '../http-client.ts';
import { openBrowser } from '../operator-steps.ts';
import { openRawConnection } from '../raw-http.ts';
import { createTestApp } from '../test-app.ts';
import { SECOND_MS } from '../test-clock.ts';

interface ProtectedOperation extends Operation {
  readonly access: OperatorAccess;
}

/** A request with this header ends with 204 where the operation would begin, so that it changes nothing. */
const ONLY_CHECK = 'x-only-check';

const service = await startTestService();
const operations: Operation[] = [];
const metrics = createMetrics({ version: 'test' });
const app = createTestApp({ prepare: addProbe }, { ...service.context, metrics });
after(() => app.close());
await app.ready();

/** Collects the registered operations, and lets each end before it begins. */
function addProbe(instance: App): void {
  instance.addHook('onRoute', (route) => {
    if (!isAdminRoute(route)) return;
    operations.push(...describeOperations(route));
    // The access is checked before.
    route.preHandler = [endCheck, ...[route.preHandler ?? []].flat()];
  });
}

async function endCheck({ headers }: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (headers[ONLY_CHECK] !== undefined) await reply.code(204).send();
}

const REFUSALS = [
  'not_signed_in',
  'invalid_api_key',
  'insufficient_scope',
  'forbidden',
  'fresh_proof_required',
  'cross_origin',
];

/** The code of a refusal of access; `served` if the operation itself answered. */
function outcomeOf({ status, body }: Pick<Answer, 'status' | 'body'>): string {
  if (status < 400 || typeof body !== 'object' || body === null || !('code' in body)) {
    return 'served';
  }
  return REFUSALS.find((code) => code === body.code) ?? 'served';
}

/** Whether the operation would begin. */
async function check({ method, path, body }: Operation, headers: RequestHeaders): Promise<string> {
  const { statusCode: status, payload } = await app.inject({
    method,
    url: path,
    headers: { ...headers, [ONLY_CHECK]: '1', 'content-type': 'application/json' },
    ...(method === 'GET' ? {} : { payload: JSON.stringify(body) }),
  });
  if (status === 204) return 'served';
  const outcome = outcomeOf({ status, body: JSON.parse(payload) });
  assert.notEqual(outcome, 'served', `${status} ${payload}`);
  return outcome;
}

function call({ method, path, body }: Operation, headers: RequestHeaders): Promise<Answer> {
  if (method === 'GET') return service.get(path, headers);
  return service.post(path, body, headers);
}

async function openSession(role: OperatorRole): Promise<RequestHeaders> {
  const { cookie } = await openBrowser(service, role);
  return { cookie, origin: TEST_ISSUER };
}

async function openKey(scope: 'admin:read' | 'admin:support' | 'admin' | 'outreach:send') {
  const { apiKey } = await createKey(service, { scopes: [scope] });
  return { 'x-api-key': apiKey };
}

const stale = await openSession('admin');
service.clock.advance(600 * SECOND_MS);
const sessions = {
  viewer: await openSession('viewer'),
  support: await openSession('support'),
  admin: await openSession('admin'),
};
const keys = {
  viewer: await openKey('admin:read'),
  support: await openKey('admin:support'),
  admin: await openKey('admin'),
};
const otherKey = await openKey('outreach:send');

const unknown = { cookie: `__Host-latchkey=${'x'.repeat(43)}`, origin: TEST_ISSUER };

const { cookie = '' } = sessions.admin;
const otherOrigins: readonly RequestHeaders[] = [
  { cookie },
  { cookie, origin: 'https://evil.example.com' },
  { cookie, origin: 'null' },
  { cookie, 'sec-fetch-site': 'same-site' },
  { cookie, origin: TEST_ISSUER.replace('https', 'http') },
  // A page that an attacker in the network created under the name of the service.
  { cookie, origin: TEST_ISSUER.replace('https', 'http'), host: new URL(TEST_ISSUER).host },
];

/** The outcome of an operation for each role, by session and by API key. */
function expectedOutcomes({ role: required, fresh, sessionOnly = false }: OperatorAccess) {
  const isRefused = (role: OperatorRole): boolean =>
    OPERATOR_ROLES.indexOf(role) < OPERATOR_ROLES.indexOf(required);
  const bySession = (role: OperatorRole) => (isRefused(role) ? 'forbidden' : 'served');
  const byKey = (role: OperatorRole) => (sessionOnly ? 'forbidden' : bySession(role));
  return {
    anonymous: 'not_signed_in',
    unknown: 'not_signed_in',
    stale: fresh ? 'fresh_proof_required' : 'served',
    sessions: OPERATOR_ROLES.map(bySession),
    keys: OPERATOR_ROLES.map(byKey),
    otherKey: 'insufficient_scope',
  };
}

async function tryCredentials(operation: Operation): Promise<unknown> {
  const tryAll = (headers: readonly RequestHeaders[]) =>
    Promise.all(headers.map((each) => check(operation, each)));
  return {
    anonymous: await check(operation, {}),
    unknown: await check(operation, unknown),
    stale: await check(operation, stale),
    sessions: await tryAll(OPERATOR_ROLES.map((role) => sessions[role])),
    keys: await tryAll(OPERATOR_ROLES.map((role) => keys[role])),
    otherKey: await check(operation, otherKey),
  };
}

/** The only operations without a session or an API key. */
const PUBLIC = [
  'GET /api/v1/admin/session/methods',
  'POST /api/v1/admin/session',
  'POST /api/v1/admin/session/link',
  'POST /api/v1/admin/session/passkey',
  'POST /api/v1/admin/session/passkey/begin',
  'POST /api/v1/admin/session/provider/begin',
  'POST /api/v1/admin/session/proxy',
  'POST /api/v1/admin/session/redeem',
];

function namesWith(access: Operation['access']): string[] {
  return operations
    .filter((each) => each.access === access)
    .map(({ method, path }) => `${method} ${path}`)
    .toSorted();
}

test('only the operations of signing in are public', () => {
  assert.deepEqual(namesWith('public'), PUBLIC.toSorted());
  assert.deepEqual(namesWith('callback'), ['GET /api/v1/admin/session/provider/callback']);
  assert.deepEqual(namesWith(undefined), []);
});

function isProtected(operation: Operation): operation is ProtectedOperation {
  return typeof operation.access === 'object';
}

describe('the access of each operation', () => {
  const protectedOperations = operations.filter(isProtected);

  test('is checked for more than 100 operations', () => {
    assert.ok(protectedOperations.length > 100, `${protectedOperations.length}`);
  });

  for (const operation of protectedOperations) {
    const { access, method, path } = operation;
    const { role, fresh, sessionOnly = false } = access;

    test(`${role}${fresh ? ', fresh' : ''}${sessionOnly ? ', session' : ''}: ${method} ${path}`, async () => {
      assert.deepEqual(await tryCredentials(operation), expectedOutcomes(access));
      // The operation itself: it neither refuses those that may call it, nor depends on more than the access.
      assert.equal(outcomeOf(await call(operation, await openSession(role))), 'served');
      if (!sessionOnly) assert.equal(outcomeOf(await call(operation, keys[role])), 'served');
      if (method === 'GET') return;
      for (const headers of otherOrigins) {
        assert.equal(await check(operation, headers), 'cross_origin', JSON.stringify(headers));
      }
    });
  }
});

test('a change may come from the page of another name of the service', async () => {
  const signOut = operations.find(({ path }) => path.endsWith('/session/sign-out'));
  assert.ok(signOut !== undefined);
  for (const [origin, host, outcome] of [
    ['https://console.example.com', 'console.example.com', 'served'],
    ['https://console.example.com', 'license.example.com', 'cross_origin'],
    ['http://console.example.com', 'console.example.com', 'cross_origin'],
    ['http://127.0.0.1:8080', '127.0.0.1:8080', 'served'],
    ['http://127.0.0.1:8081', '127.0.0.1:8080', 'cross_origin'],
  ] as const) {
    assert.equal(await check(signOut, { cookie, origin, host }), outcome, `${origin} ${host}`);
  }
});

test('a request without a session or with too low a role is refused before its body is read', async () => {
  for (const [headers, outcome] of [
    [{}, 'not_signed_in'],
    [sessions.viewer, 'forbidden'],
  ] as const) {
    const answer = await service.post('/api/v1/admin/operators', '{ not JSON', headers);
    assert.equal(outcomeOf(answer), outcome);
  }
  const admin = await service.post('/api/v1/admin/operators', '{ not JSON', sessions.admin);
  assert.equal(admin.status, 422);
  // Only the head of a request with eight megabytes.
  using connection = await openRawConnection(service.url);
  const length = 8 * 1024 * 1024;
  connection.send(
    `POST /api/v1/admin/outreach/dry-run HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`,
  );
  assert.match(await connection.waitForAnswers(1), /^HTTP\/1\.1 401 /);
});

test('a session changes nothing with a body that a form of another origin can send', async () => {
  const headers = sessions.admin;
  const path = '/api/v1/admin/session/sign-out';
  const answer = await service.send('POST', path, { headers });
  assert.equal(outcomeOf(answer), 'cross_origin');
});

test('a page of another origin cannot sign a browser in', async () => {
  const body = { email: 'anna@example.com', password: 'a password of eve' };
  for (const headers of [
    { origin: 'https://evil.example.com' },
    { 'sec-fetch-site': 'cross-site' },
  ]) {
    const answer = await service.post('/api/v1/admin/session', body, headers);
    assert.equal(outcomeOf(answer), 'cross_origin');
  }
});
