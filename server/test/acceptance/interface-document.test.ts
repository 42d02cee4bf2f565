import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import { Type } from 'typebox';
import { Parse } from 'typebox/value';
import { renderInterface } from '../render-interface.ts';
import { createTestApp } from '../test-app.ts';
import { adminOperations } from './admin-operations.ts';

const Document = Type.Object({
  openapi: Type.String(),
  info: Type.Object({ title: Type.String(), version: Type.String() }),
  paths: Type.Record(
    Type.String(),
    Type.Record(
      Type.String(),
      Type.Object({
        operationId: Type.String(),
        responses: Type.Record(Type.String(), Type.Unknown()),
      }),
    ),
  ),
  components: Type.Object({ schemas: Type.Record(Type.String(), Type.Unknown()) }),
});

const committed = readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8');

/** Method, path and documented statuses of each operation. */
const operations: readonly (readonly [string, string, string])[] = [
  ...adminOperations,
  ['GET', '/', '200 503'],
  ['GET', '/api/v1/health', '200 503'],
  ['GET', '/api/v1/health/live', '200'],
  ['GET', '/api/v1/health/ready', '200 503'],
  ['GET', '/api/v1/licenses/check/{transaction_id}', '200 400 404 414 422 429 500 503'],
  ['GET', '/api/v1/licenses/{license_key}/activations', '200 400 404 414 422 429 500 503'],
  ['GET', '/api/v1/buyers/licenses', '200 401 422 500 503'],
  ['GET', '/api/v1/buyers/licenses/{license_id}/machines', '200 400 401 404 414 422 500 503'],
  ['POST', '/api/v1/buyers/codes', '200 413 415 422 429 500 503'],
  ['POST', '/api/v1/buyers/keys', '200 401 422 429 500 503'],
  [
    'POST',
    '/api/v1/buyers/licenses/{license_id}/activate-airgapped',
    '200 400 401 403 404 409 413 414 415 422 429 500 503',
  ],
  [
    'POST',
    '/api/v1/buyers/licenses/{license_id}/machines/{activation_id}/free',
    '200 400 401 404 409 414 422 500 503',
  ],
  ['POST', '/api/v1/buyers/sign-out', '200 401 422 500 503'],
  ['POST', '/api/v1/buyers/sessions', '200 403 413 415 422 429 500 503'],
  ['POST', '/api/v1/events', '200 400 413 415 422 429 500 503'],
  ['POST', '/api/v1/licenses/activate', '200 403 404 409 413 415 422 429 500 503'],
  ['POST', '/api/v1/licenses/activate-airgapped', '200 403 404 409 413 415 422 429 500 503'],
  ['POST', '/api/v1/licenses/deactivate', '200 403 404 413 415 422 429 500 503'],
  ['POST', '/api/v1/licenses/validate', '200 413 415 422 429 500 503'],
  ['POST', '/api/v1/outreach/send', '200 401 403 409 413 415 422 500 503'],
  ['POST', '/api/v1/subscribers', '201 401 403 413 415 422 429 500 503'],
  ['POST', '/api/v1/trial/start', '200 413 415 422 429 500 503'],
  ['POST', '/api/v1/usage/heartbeat', '200 413 415 422 429 500 503'],
  ['POST', '/api/v1/webhooks/billing', '200 401 413 415 422 500 503'],
  ['POST', '/api/v1/webhooks/gumroad/{secret}', '200 400 401 413 414 415 422 500 503'],
  ['POST', '/api/v1/webhooks/{provider}', '200 202 400 401 404 413 414 415 422 500 503'],
];

describe('the interface document', () => {
  const document = Parse(Document, JSON.parse(committed));

  test('equals the document generated from the schemas', async () => {
    assert.equal(committed, await renderInterface());
  });

  test('is OpenAPI 3.1 of interface version 1.0.0', () => {
    assert.deepEqual([document.openapi, document.info.version], ['3.1.0', '1.0.0']);
  });

  test('lists every operation with its possible responses', () => {
    const found = Object.entries(document.paths)
      .filter(([path]) => path === '/' || path.startsWith('/api/v1/'))
      .flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, { responses }]) => [
          method.toUpperCase(),
          path,
          Object.keys(responses).join(' '),
        ]),
      );
    assert.deepEqual(
      found.toSorted((a, b) => a.join(' ').localeCompare(b.join(' '), 'en')),
      operations.toSorted((a, b) => a.join(' ').localeCompare(b.join(' '), 'en')),
    );
  });

  test('has the schema names of the interface', () => {
    const names = Object.keys(document.components.schemas);
    for (const name of [
      'LicenseActivate',
      'LicenseActivateResponse',
      'LicenseValidate',
      'LicenseValidateResponse',
      'LicenseDeactivate',
      'MachineInfo',
      'LicenseCheckResponse',
      'TrialStartRequest',
      'TrialStartResponse',
      'HeartbeatRequest',
      'HeartbeatResponse',
      'SubscriberCreate',
      'SubscriberResponse',
      'OutreachRequest',
      'OutreachResponse',
      'EventBatch',
      'EventIn',
      'EventBatchResponse',
      'WebhookResponse',
      'HTTPValidationError',
      'ValidationError',
      'Problem',
    ]) {
      assert.ok(names.includes(name), name);
    }
  });
});

describe('the documentation pages', () => {
  const app = createTestApp();
  after(() => app.close());

  test('the document is served as it is committed', async () => {
    const response = await app.inject('/openapi.json');
    assert.equal(response.statusCode, 200);
    assert.equal(response.headers['content-type'], 'application/json; charset=utf-8');
    assert.equal(response.body, committed);
  });

  test('they load scripts, styles and data only from this service, and each of them exists', async () => {
    for (const page of ['/docs', '/docs/errors']) {
      const response = await app.inject(page);
      assert.equal(response.statusCode, 200);
      assert.equal(response.headers['content-type'], 'text/html; charset=utf-8');
      const policy = String(response.headers['content-security-policy']);
      assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self';/);
      assert.match(policy, /frame-ancestors 'none'/);
      assert.doesNotMatch(response.body, /<script>|<style|\son\w+=|https?:/);
      const links = [...response.body.matchAll(/(?:src|href)="([^"#]+)"/g)]
        .map(([, link = '']) => link)
        .filter((link) => !link.startsWith('data:'));
      assert.ok(links.length > 0);
      for (const link of links) {
        const url = new URL(link, `http://localhost${page}`).pathname;
        assert.equal((await app.inject(url)).statusCode, 200, url);
      }
    }
  });

  test('a problem points to its explanation', async () => {
    const { type } = (await app.inject('/nowhere')).json<{ type: string }>();
    const [path = '', id] = type.split('#');
    const page = await app.inject(path);
    assert.equal(page.statusCode, 200);
    assert.ok(page.body.includes(`id="${id}"`));
  });
});
