import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { ErrorCode } from '#server/error-catalogue.ts';

import {
  anyUnknownApiKey,
  makeKey,
  MISTYPED_API_KEY,
  revokeKeys,
  rollKey,
} from '../api-key-steps.ts';
import { DAY_MS, HOUR_MS } from '../test-clock.ts';
import { inside, openAcceptanceService } from './acceptance-service.ts';
import { faultsOf, problem } from './bodies.ts';

const service = await openAcceptanceService();

const PATH = '/api/v1/outreach/send';
const BODY = { template: 'personal', recipients: [{ email: 'ada@example.com' }] };

const send = (apiKey: string, body: unknown = BODY) =>
  service.post(PATH, body, { 'x-api-key': apiKey });

async function expectRefusal(apiKey: string, code: ErrorCode, detail?: string): Promise<void> {
  const answer = await send(apiKey);
  const expected = problem(code, detail === undefined ? {} : { detail });
  assert.deepEqual([answer.status, answer.body], [expected['status'], expected]);
}

describe('422', () => {
  test('without the header X-API-Key, told together with the faults of the body', async () => {
    const answer = await service.post(PATH, { template: 'none' });
    assert.equal(answer.status, 422);
    assert.deepEqual(faultsOf(answer.body), [
      ['header.X-API-Key', 'missing'],
      ['body.template', 'enum'],
      ['body.recipients', 'missing'],
    ]);
  });

  test('a key in another header is none', async () => {
    const answer = await service.post(PATH, BODY, {
      authorization: `Bearer ${anyUnknownApiKey()}`,
    });
    assert.deepEqual(faultsOf(answer.body), [['header.X-API-Key', 'missing']]);
  });

  test('comes before a key is judged', async () => {
    assert.equal((await send(anyUnknownApiKey(), {})).status, 422);
    assert.equal((await send('', '[')).status, 422);
  });
});

describe('401', () => {
  for (const [what, apiKey] of [
    ['a key that nobody has', anyUnknownApiKey()],
    ['a key with a wrong checksum', MISTYPED_API_KEY],
    ['a text of another form', 'sesame'],
    ['an empty text', ''],
    ['a text beyond ASCII', 'clé'],
  ] as const) {
    test(what, () => expectRefusal(apiKey, 'invalid_api_key'));
  }

  test('tells how a key is shown, as HTTP asks', async () => {
    const answer = await send(anyUnknownApiKey());
    assert.equal(answer.headers.get('www-authenticate'), 'Bearer');
  });

  test('a key from the moment of its end', inside, async () => {
    const { apiKey } = await makeKey(service.own, { term: { days: 1 } });
    service.own.clock.advance(DAY_MS - 1);
    await expectRefusal(apiKey, 'not_implemented');
    service.own.clock.advance(1);
    await expectRefusal(apiKey, 'invalid_api_key');
  });

  test('a key that was revoked, at once', inside, async () => {
    const { apiKey, key } = await makeKey(service.own);
    await expectRefusal(apiKey, 'not_implemented');
    await revokeKeys(service.own, key.id);
    await expectRefusal(apiKey, 'invalid_api_key');
  });

  test('a key that was rolled, once the overlap is over', inside, async () => {
    const old = await makeKey(service.own);
    const next = await rollKey(service.own, old.key.name, HOUR_MS);
    service.own.clock.advance(HOUR_MS - 1);
    await expectRefusal(old.apiKey, 'not_implemented');
    service.own.clock.advance(1);
    await expectRefusal(old.apiKey, 'invalid_api_key');
    await expectRefusal(next.apiKey, 'not_implemented');
  });

  test('a key that was rolled without overlap', inside, async () => {
    const old = await makeKey(service.own);
    await rollKey(service.own, old.key.id, 0);
    await expectRefusal(old.apiKey, 'invalid_api_key');
  });

  test('a key that is over, whatever its scope', inside, async () => {
    const { apiKey, key } = await makeKey(service.own, { scopes: ['metrics:read'] });
    await revokeKeys(service.own, key.name);
    await expectRefusal(apiKey, 'invalid_api_key');
  });
});

describe('403', () => {
  test('a key for something else', inside, async () => {
    const { apiKey } = await makeKey(service.own, { scopes: ['metrics:read'] });
    const detail = 'The API key does not have the scope outreach:send.';
    await expectRefusal(apiKey, 'insufficient_scope', detail);
  });
});

describe('501', () => {
  test(
    'a key for it, for all, or for several things opens what is not offered yet',
    inside,
    async () => {
      for (const scopes of [
        ['outreach:send'],
        ['admin'],
        ['metrics:read', 'outreach:send'],
      ] as const) {
        const { apiKey } = await makeKey(service.own, { scopes });
        await expectRefusal(apiKey, 'not_implemented');
      }
    },
  );
});
