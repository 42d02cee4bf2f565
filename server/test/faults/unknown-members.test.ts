/** Unknown members in the bodies of every operation of operators: never stored, and never an error of the service. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import type { App } from '#server/http/app-instance.ts';
import { isRecord } from '#server/lib/unknown-values.ts';
import { createMetrics } from '#server/metrics.ts';

import { describeOperations, isAdminRoute, type Operation } from '../admin-routes.ts';
import { CONTENT } from '../campaign-steps.ts';
import { startTestService, TEST_ISSUER } from '../harness.ts';
import { openBrowser } from '../operator-steps.ts';
import { fillPath } from '../real-resources.ts';
import { createTestApp } from '../test-app.ts';

const MARKER = 'unknownmember';
const LONG = MARKER.repeat(60_000 / MARKER.length);
const UNSTORABLE = [{ [MARKER]: [{ a: [`${MARKER}\0`] }] }, { [`${MARKER}\ud800`]: 1 }];

const service = await startTestService();
const operations: Operation[] = [];
const metrics = createMetrics({ version: 'test' });
const app = createTestApp({ prepare }, { ...service.context, metrics });
after(() => app.close());

function prepare(instance: App): void {
  instance.addHook('onRoute', (route) => {
    if (isAdminRoute(route)) operations.push(...describeOperations(route));
  });
}

const admin = await openBrowser(service);

before(() => app.ready());

/** Bodies that are valid and have nested objects, where the examples have none. */
const BODIES: Readonly<Record<string, object>> = {
  '/api/v1/admin/outreach/campaigns': CONTENT,
  '/api/v1/admin/outreach/campaigns/:id/update': { ...CONTENT, expected_version: 1 },
};

/** Returns copies of a JSON value, each with the member in another of its objects. */
function addEverywhere(value: unknown, member: object): unknown[] {
  if (Array.isArray(value)) {
    return value.flatMap((item, index) =>
      addEverywhere(item, member).map((changed) => value.with(index, changed)),
    );
  }
  if (!isRecord(value)) return [];
  const nested = Object.entries(value).flatMap(([name, field]) =>
    addEverywhere(field, member).map((changed) => ({ ...value, [name]: changed })),
  );
  return [{ ...value, ...member }, ...nested];
}

/** What an operation of a session does to it must not end the others. */
async function cookieFor({ access, route }: Operation): Promise<string> {
  const usesSession = route.startsWith('/api/v1/admin/session') || typeof access !== 'object';
  return usesSession || access.sessionOnly === true
    ? (await openBrowser(service)).cookie
    : admin.cookie;
}

async function post(operation: Operation, url: string, body: unknown): Promise<number> {
  const headers = {
    cookie: await cookieFor(operation),
    origin: TEST_ISSUER,
    'content-type': 'application/json',
  };
  const payload = JSON.stringify(body);
  const { statusCode, payload: answer } = await app.inject({
    method: 'POST',
    url,
    headers,
    payload,
  });
  assert.ok(statusCode < 500 || statusCode === 503, `${url} ${statusCode} ${answer.slice(0, 300)}`);
  return statusCode;
}

function listBodies({ body, fullBody, route }: Operation): unknown[] {
  const known = BODIES[route];
  return known === undefined ? [body, fullBody] : [known];
}

const listPosts = () => operations.filter(({ method }) => method === 'POST');

async function listTablesWith(text: string): Promise<string[]> {
  const { rows: tables } = await service.pool.query<{ name: string }>(
    `select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const { rowCount } = await service.pool.query(
      `select from ${name} stored where stored::text like $1 or stored::text like $2 limit 1`,
      [`%${text}%`, `%${Buffer.from(text).toString('hex')}%`],
    );
    if (rowCount !== 0) found.push(name);
  }
  return found;
}

test('refuses an unknown member of any operation, and stores none at any level', async () => {
  for (const operation of listPosts()) {
    const [body, fullBody = body] = listBodies(operation);
    const member = { [MARKER]: LONG };
    const url = await fillPath(service, admin, operation.route);
    const status = await post(operation, url, { ...Object(body), ...member });
    if (operation.takesBody) assert.equal(status, 422, operation.route);
    for (const changed of addEverywhere(fullBody, member)) await post(operation, url, changed);
  }
  assert.deepEqual(await listTablesWith(MARKER), []);
});

test('422 for U+0000 and lone surrogates in unknown members and in names, at any level', async () => {
  for (const operation of listPosts()) {
    for (const member of UNSTORABLE) {
      for (const changed of addEverywhere(listBodies(operation).at(-1), member)) {
        const status = await post(operation, operation.path, changed);
        assert.equal(status, 422, `${operation.route} ${JSON.stringify(changed)}`);
      }
    }
  }
  assert.deepEqual(await listTablesWith(MARKER), []);
});

test('answers U+0000 in parameters of paths and queries without an error of the service', async () => {
  const headers = { cookie: admin.cookie, origin: TEST_ISSUER };
  for (const { method, path, route } of operations) {
    const separator = path.includes('?') ? '&' : '?';
    const urls = [
      `${path.replaceAll(/=[^&]*/gu, '=%00')}${separator}${MARKER}=%00`,
      route.replaceAll(/:\w+/gu, '%00'),
    ];
    for (const url of urls) {
      const { statusCode } = await app.inject({ method, url, headers });
      assert.ok(statusCode < 500 || statusCode === 503, `${method} ${url} ${statusCode}`);
    }
  }
});
