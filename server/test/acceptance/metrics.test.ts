import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { anyUnknownApiKey, createKey, revokeKeys } from '../api-key-steps.ts';
import type { RequestHeaders } from '../http-client.ts';
import { inProcess, openAcceptanceService } from './acceptance-service.ts';
import { problem } from './bodies.ts';

const service = await openAcceptanceService();

const read = (headers: RequestHeaders = {}) => service.get('/metrics', headers);
const bearer = (apiKey: string) => ({ authorization: `Bearer ${apiKey}` });

describe('200', () => {
  test('a key for metrics, or for all, sent either way', inProcess, async () => {
    for (const scope of ['metrics:read', 'admin'] as const) {
      const { apiKey } = await createKey(service.own, { scopes: [scope] });
      for (const headers of [bearer(apiKey), { 'x-api-key': apiKey }]) {
        const answer = await read(headers);
        assert.equal(answer.status, 200);
        assert.match(answer.text, /^latchkey_build_info\{/mu);
        assert.equal(answer.headers.get('cache-control'), 'no-store');
      }
    }
  });
});

describe('401', () => {
  test('rejects a request without a key, and names the header to send', async () => {
    const answer = await read();
    const detail = 'This needs an API key, in X-API-Key or as Authorization: Bearer.';
    assert.deepEqual([answer.status, answer.body], [401, problem('invalid_api_key', { detail })]);
    assert.equal(answer.headers.get('www-authenticate'), 'Bearer');
  });

  test('rejects an unknown key', async () => {
    const answer = await read(bearer(anyUnknownApiKey()));
    assert.deepEqual([answer.status, answer.body], [401, problem('invalid_api_key')]);
  });

  test('rejects a revoked key', inProcess, async () => {
    const { apiKey, key } = await createKey(service.own, { scopes: ['metrics:read'] });
    await revokeKeys(service.own, key.id);
    assert.equal((await read(bearer(apiKey))).status, 401);
  });
});

describe('403', () => {
  test('rejects a key of another scope', inProcess, async () => {
    const { apiKey } = await createKey(service.own, { scopes: ['outreach:send'] });
    const answer = await read(bearer(apiKey));
    const detail = 'The API key does not have the scope metrics:read.';
    assert.deepEqual(
      [answer.status, answer.body],
      [403, problem('insufficient_scope', { detail })],
    );
  });
});
