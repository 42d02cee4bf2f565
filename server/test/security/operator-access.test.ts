import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { namedSchemas, nameOf, OPERATOR_ROLES, type OperatorRole } from '@latchkey/contract';
import type { TSchema } from 'typebox';

import type { OperatorAccess } from '#server/http/require-operator.ts';

import { createKey } from '../api-key-steps.ts';
import { startTestService, TEST_ISSUER } from '../harness.ts';
import type { Answer, RequestHeaders } from '../http-client.ts';
import { openBrowser } from '../operator-steps.ts';
import { createTestApp } from '../test-app.ts';
import { SECOND_MS } from '../test-clock.ts';

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly access: OperatorAccess | 'public' | undefined;
  readonly body: unknown;
}

const operations = await listOperations();
const service = await startTestService();

/** Every registered operation of the operator interface, with a valid path and body. */
async function listOperations(): Promise<Operation[]> {
  const found: Operation[] = [];
  const app = createTestApp({
    prepare: (instance) => {
      instance.addHook('onRoute', ({ method, url, config, schema }) => {
        if (!url.startsWith('/api/v1/admin/')) return;
        for (const each of [method].flat().filter((name) => name !== 'HEAD')) {
          const path = url.replaceAll(/:\w+/g, '0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d');
          found.push({ method: each, path, access: config?.access, body: exampleOf(schema?.body) });
        }
      });
    },
  });
  await app.ready();
  await app.close();
  return found;
}

interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
}

/** Builds a valid value of a schema from the examples of its fields. */
function exampleOf(schema: unknown): unknown {
  if (!isSchema(schema)) return {};
  if (schema.$ref !== undefined) return exampleOf(findSchema(schema.$ref));
  if (schema.examples !== undefined) return schema.examples[0];
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.properties !== undefined) {
    const { required = [], properties } = schema;
    return Object.fromEntries(required.map((name) => [name, exampleOf(properties[name])]));
  }
  const [type] = [schema.type ?? 'object'].flat();
  const empty: Readonly<Record<string, unknown>> = { integer: 1, boolean: true, string: 'x' };
  return type === 'array' ? [exampleOf(schema.items)] : (empty[type ?? ''] ?? {});
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null;
}

function findSchema(reference: string): TSchema | undefined {
  return namedSchemas.find((schema) => `${nameOf(schema)}#` === reference);
}

function call({ method, path, body }: Operation, headers: RequestHeaders): Promise<Answer> {
  if (method === 'GET') return service.get(path, headers);
  return service.post(path, body, headers);
}

/** The code of a refusal of access; null if the operation itself answered. */
function refusalOf({ status, body }: Answer): unknown {
  if (status < 400 || typeof body !== 'object' || body === null || !('code' in body)) return null;
  const refusals = [
    'not_signed_in',
    'invalid_api_key',
    'insufficient_scope',
    'forbidden',
    'fresh_proof_required',
    'cross_origin',
  ];
  return refusals.find((code) => code === body.code) ?? null;
}

async function sessionHeaders(role: OperatorRole): Promise<RequestHeaders> {
  const { cookie } = await openBrowser(service, role);
  return { cookie, origin: TEST_ISSUER };
}

const isAllowed = (role: OperatorRole, required: OperatorRole): boolean =>
  OPERATOR_ROLES.indexOf(role) >= OPERATOR_ROLES.indexOf(required);

/** The only operations without a session or an API key. */
const PUBLIC = [
  '/api/v1/admin/session',
  '/api/v1/admin/session/link',
  '/api/v1/admin/session/redeem',
];

test('only the operations of signing in are public', () => {
  assert.ok(operations.length > 10);
  const open = operations.filter(({ access }) => access === 'public');
  assert.deepEqual(
    open.map(({ method, path }) => `${method} ${path}`).toSorted(),
    PUBLIC.map((path) => `POST ${path}`).toSorted(),
  );
});

for (const operation of operations) {
  const { access, method, path } = operation;
  if (access === undefined || access === 'public') continue;
  describe(`${method} ${path}`, () => {
    test('rejects requests without a session or with an unknown one', async () => {
      for (const headers of [
        {},
        { cookie: `__Host-latchkey=${'x'.repeat(43)}`, origin: TEST_ISSUER },
      ]) {
        assert.equal(refusalOf(await call(operation, headers)), 'not_signed_in');
      }
    });

    for (const role of OPERATOR_ROLES) {
      test(`${isAllowed(role, access.role) ? 'serves' : 'rejects'} the role ${role}`, async () => {
        const refusal = refusalOf(await call(operation, await sessionHeaders(role)));
        assert.equal(refusal, isAllowed(role, access.role) ? null : 'forbidden');
      });
    }

    test(`${access.fresh ? 'needs' : 'does not need'} a fresh proof`, async () => {
      const headers = await sessionHeaders('admin');
      service.clock.advance(600 * SECOND_MS);
      const refusal = refusalOf(await call(operation, headers));
      assert.equal(refusal, access.fresh ? 'fresh_proof_required' : null);
    });

    test('serves API keys by their scopes', async () => {
      for (const [scope, role] of [
        ['admin:read', 'viewer'],
        ['admin:support', 'support'],
        ['admin', 'admin'],
      ] as const) {
        const { apiKey } = await createKey(service, { scopes: [scope] });
        const refusal = refusalOf(await call(operation, { 'x-api-key': apiKey }));
        const serves: boolean = isAllowed(role, access.role) && access.sessionOnly !== true;
        assert.equal(refusal, serves ? null : 'forbidden', scope);
      }
      const { apiKey } = await createKey(service, { scopes: ['outreach:send'] });
      assert.equal(refusalOf(await call(operation, { 'x-api-key': apiKey })), 'insufficient_scope');
    });

    if (method === 'GET') return;
    test('rejects the cookie with a request of another origin', async () => {
      const { cookie } = await sessionHeaders('admin');
      for (const headers of [
        {},
        { origin: 'https://evil.example.com' },
        { origin: 'null' },
        { 'sec-fetch-site': 'same-site' },
        { origin: TEST_ISSUER.replace('https', 'http') },
      ]) {
        const refusal = refusalOf(await call(operation, { cookie: cookie ?? '', ...headers }));
        assert.equal(refusal, 'cross_origin', JSON.stringify(headers));
      }
    });
  });
}

test('a session changes nothing with a body that a form of another origin can send', async () => {
  const headers = await sessionHeaders('admin');
  const path = '/api/v1/admin/session/sign-out';
  const answer = await service.send('POST', path, { headers });
  assert.equal(refusalOf(answer), 'cross_origin');
});

test('a page of another origin cannot sign a browser in', async () => {
  const body = { email: 'anna@example.com', password: 'a password of eve' };
  for (const headers of [
    { origin: 'https://evil.example.com' },
    { 'sec-fetch-site': 'cross-site' },
  ]) {
    const answer = await service.post('/api/v1/admin/session', body, headers);
    assert.equal(refusalOf(answer), 'cross_origin');
  }
});
