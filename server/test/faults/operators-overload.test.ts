/** The operator interface while every slot of the limiter of database calls is taken. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';

import type { FastifyRequest } from 'fastify';

import { hashAddress } from '#server/features/suppressions/address-hash.ts';
import { insertSuppression } from '#server/features/suppressions/queries/suppressions.ts';
import type { App } from '#server/http/app-instance.ts';
import { ConcurrencyLimiter } from '#server/lib/concurrency-limiter.ts';
import { isRecord } from '#server/lib/unknown-values.ts';
import { createMetrics } from '#server/metrics.ts';

import { readBody } from '../acceptance/bodies.ts';
import { listAudited } from '../admin-license-steps.ts';
import { describeOperations, isAdminRoute, type Operation } from '../admin-routes.ts';
import { AUDIENCE, EN } from '../campaign-steps.ts';
import { startTestService, TEST_ISSUER } from '../harness.ts';
import { openBrowser, TEST_PASSWORD, type Browser } from '../operator-steps.ts';
import { fillPath } from '../real-resources.ts';
import { createTestApp } from '../test-app.ts';

/** A request with this header finds all slots taken when its operation begins. Its authentication needs one before that. */
const WHEN_FULL = 'x-when-full';

const service = await startTestService({
  mailFrom: 'keys@example.com',
  mail: {
    send: () => Promise.reject(new Error('nothing is sent')),
    check: async () => null,
    close: () => {},
  },
  outreachMail: { send: () => Promise.reject(new Error('nothing is sent')), close: () => {} },
});
const slots = new ConcurrencyLimiter({ limit: 1, maxQueued: 0 });
const operations: Operation[] = [];
const app = createTestApp(
  { prepare },
  {
    ...service.context,
    metrics: createMetrics({ version: 'test' }),
    databaseLimiter: slots,
  },
);
after(() => app.close());
await app.ready();
const { cookie } = await openBrowser(service);

const ADDRESS_HASH = hashAddress(service.context.vault, 'suppressed@example.com');
await insertSuppression(service.pool, {
  addressHash: ADDRESS_HASH,
  reason: 'unsubscribed',
  suppressedAt: service.clock.now(),
});

let connections = 0;
service.pool.on('acquire', () => (connections += 1));
let releaseSlots = (): void => {};

/** Collects the registered operations, and takes the slots before them. */
function prepare(instance: App): void {
  instance.addHook('onRoute', (route) => {
    if (!isAdminRoute(route)) return;
    operations.push(...describeOperations(route));
    route.preHandler = takeSlots;
  });
}

async function takeSlots({ headers }: FastifyRequest): Promise<void> {
  if (headers[WHEN_FULL] === undefined) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  releaseSlots = resolve;
  void slots.run(() => promise);
  connections = 0;
}

type Request = Pick<Operation, 'method' | 'path' | 'body'>;

function call({ method, path, body }: Request, headers: Readonly<Record<string, string>> = {}) {
  return app.inject({
    method,
    url: path,
    headers: { cookie, origin: TEST_ISSUER, 'content-type': 'application/json', ...headers },
    ...(method === 'GET' ? {} : { payload: JSON.stringify(body) }),
  });
}

/** Returns the answer while all slots are taken, and the number of connections that the operation took. */
async function callWhenFull(request: Request) {
  const { statusCode: status, headers, payload } = await call(request, { [WHEN_FULL]: '1' });
  const taken = connections;
  releaseSlots();
  return { status, retryAfter: headers['retry-after'], payload, connections: taken };
}

const ID = '0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d';

/** Operations that need a person, an authenticator or a proxy, and end with another status than 200 without it. */
const ENDS_EARLY: Readonly<Record<string, number>> = {
  // No product of the catalogue takes its keys from a pool, and no price is repaired.
  'POST key-pools/add': 422,
  [`POST payment-events/${ID}/${ID}/repair`]: 422,
  'POST session/link': 401,
  'POST session/passkey': 401,
  'POST session/passkey/prove': 401,
  'POST session/passkeys': 409,
  'POST session/proxy': 401,
  'POST session/proxy/prove': 401,
  'POST session/recovery-codes': 409,
  'POST session/totp/enable': 409,
};

/** Returns a request for something that exists, so that the operation does not end when it is not found. */
async function onReal(
  { method, path, route, body: example }: Operation,
  admin: Browser,
): Promise<Request> {
  const [known = '', query] = path.split('?');
  const body = BODIES[nameOf(method, known)] ?? example;
  const filled = await fillPath(service, admin, route);
  return {
    method,
    path: query === undefined ? filled : `${filled}?${query}`,
    body: isRecord(body) && 'expected_version' in body ? { ...body, expected_version: 1 } : body,
  };
}

const OVERLOADED = { status: 503, retryAfter: '1', code: 'overloaded', connections: 0 };

async function refusalOf(request: Request) {
  const { payload, ...rest } = await callWhenFull(request);
  return { ...rest, code: readBody(JSON.parse(payload))['code'] };
}

function nameOf(method: string, path: string): string {
  return `${method} ${path.replace('/api/v1/admin/', '').split('?')[0]}`;
}

function namesOf(slotsOfRoute: Operation['databaseSlots']): string[] {
  return operations
    .filter(({ databaseSlots }) => databaseSlots === slotsOfRoute)
    .map(({ method, path }) => nameOf(method, path))
    .toSorted();
}

/** They wait for another service or for a hash, or read side by side, and take slots for the database. */
const TAKE_SLOTS = [
  'GET overview',
  'GET search',
  'POST outreach/test-mail',
  'POST session',
  'POST session/password',
  'POST session/prove',
  'POST session/redeem',
  `POST webhook-endpoints/${ID}/test`,
];

/** What the examples of the schemas leave out, so that these operations reach the database. */
const BODIES: Readonly<Record<string, object>> = {
  'POST licenses/import': { csv: 'license_key\nACME-4711-QX7R-92KD\n', dry_run: true },
  'POST suppressions/remove': { address_hash: ADDRESS_HASH, reason: 'requested by a test' },
  [`POST outreach/campaigns/${ID}/send`]: {
    expected_version: 1,
    max_recipients: 1,
    list: 'a@example.org',
  },
  'POST outreach/test-mail': { texts: { en: EN }, language: 'en', audience: AUDIENCE },
  'POST session/redeem': { token: 'x'.repeat(43), password: TEST_PASSWORD },
  // The address of the example is taken: a server with it was added before.
  [`POST fleet-servers/${ID}/update`]: {
    name: 'web-2',
    address: 'web-2.example.com',
    labels: [],
    expected_version: 1,
  },
};

/** One at a time, because they read for a long time, and use one connection. */
const ONE_AT_A_TIME = [
  'GET audit/chain',
  'POST audit/verify',
  'POST customer/erase',
  'POST customer/export',
  'POST customer/plan-erasure',
  'POST doctor',
  `POST installs/${ID}/erase`,
  'POST payment-events/reconcile',
];

const WITHOUT_DATABASE = [
  'GET catalog',
  'GET mail-templates',
  `GET mail-templates/${ID}`,
  `GET mail-templates/${ID}/html`,
  'GET outreach/preview-frame',
  'GET outreach/start',
  'GET session/methods',
  'GET settings',
  'POST mail-relay/check',
  'POST outreach/preview',
  'POST session/passkey/begin',
  'POST session/provider/begin',
  'POST session/provider/prove',
];

/** Operators look there for the cause of an overload. */
const ANSWERS_ALWAYS = 'GET health';

describe('every operation of operators', () => {
  test('runs in a slot, except those with slots of their own and those without the database', () => {
    // The answer of an identity provider, which is only redirected here, takes slots too.
    const own = [...TAKE_SLOTS, ...ONE_AT_A_TIME, 'GET session/provider/callback'];
    assert.deepEqual(namesOf('own'), own.toSorted());
    assert.deepEqual(namesOf('none'), [...WITHOUT_DATABASE, ANSWERS_ALWAYS].toSorted());
    assert.ok(namesOf(undefined).length > 90, `${namesOf(undefined).length}`);
  });

  for (const operation of operations) {
    const { databaseSlots, method, path } = operation;
    const name = nameOf(method, path);

    if (databaseSlots === undefined || TAKE_SLOTS.includes(name)) {
      test(`without a slot is refused, and takes no connection: ${name}`, async () => {
        const body = BODIES[name] ?? operation.body;
        assert.deepEqual(await refusalOf({ method, path, body }), OVERLOADED);
      });
    }

    if (databaseSlots === undefined) {
      test(`takes one slot only: ${name}`, async () => {
        const browser = await openBrowser(service);
        const { statusCode, payload } = await call(await onReal(operation, browser), {
          cookie: browser.cookie,
        });
        assert.equal(statusCode, ENDS_EARLY[name] ?? 200, payload);
        assert.equal(slots.running, 0);
      });
    }

    if (WITHOUT_DATABASE.includes(name)) {
      test(`answers without a slot and a connection: ${name}`, async () => {
        const answer = await callWhenFull(operation);
        assert.notEqual(answer.status, 503, answer.payload);
        assert.equal(answer.connections, 0);
      });
    }
  }

  test('the health of the service is shown while all slots are taken', async () => {
    const health = { method: 'GET', path: '/api/v1/admin/health', body: null } as const;
    assert.equal((await callWhenFull(health)).status, 200);
  });
});

test('a change is not carried out while all slots are taken, and then is', async () => {
  const { license } = await service.issue();
  const suspend = {
    method: 'POST',
    path: `/api/v1/admin/licenses/${license.id}/suspend`,
    body: { expected_version: 1, reason: 'The customer asked for it' },
  } as const;
  const isSuspended = async (): Promise<unknown> => {
    const { rows } = await service.pool.query<{ suspended: boolean }>(
      'select suspended_at is not null as suspended from licenses where id = $1',
      [license.id],
    );
    return rows[0]?.suspended;
  };

  assert.deepEqual(await refusalOf(suspend), OVERLOADED);
  assert.equal(await isSuspended(), false);
  assert.deepEqual(await listAudited(service, license.id), []);

  const answer = await call(suspend);
  assert.equal(answer.statusCode, 200, answer.payload);
  assert.equal(await isSuspended(), true);
  assert.equal((await listAudited(service, license.id)).length, 1);
});
