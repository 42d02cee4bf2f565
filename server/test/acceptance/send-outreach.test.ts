import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { LANGUAGES, OUTREACH_TEMPLATES } from '@latchkey/contract';

import type { ErrorCode } from '@latchkey/contract/error-catalogue';

import {
  anyUnknownApiKey,
  createKey,
  MISTYPED_API_KEY,
  revokeKeys,
  rollKey,
} from '../api-key-steps.ts';
import { DAY_MS, HOUR_MS } from '../test-clock.ts';
import { manyRecipients, readOutreach, startOutreachService } from '../outreach-steps.ts';
import { inProcess, openAcceptanceService } from './acceptance-service.ts';
import { validationErrorsOf, problem } from './bodies.ts';

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

/** Mail is not configured here, so only the key determines the status. */
async function expectAnswer(apiKey: string): Promise<void> {
  const answer = await send(apiKey);
  assert.equal(answer.status, 200, answer.text);
}

describe('200', () => {
  test('reports mail_not_configured for each recipient, in order', inProcess, async () => {
    const { apiKey } = await createKey(service.own);
    const recipients = [
      { email: 'Ada@EXAMPLE.com', name: 'Ada' },
      { email: 'bob@example.com', name: null },
      { email: 'ada@example.com' },
    ];
    const answer = await send(apiKey, { template: 'pi_tutorials', language: 'fr', recipients });
    const failed = { success: false, error: 'mail_not_configured', message_id: null };
    assert.deepEqual(answer.body, {
      total: 3,
      sent: 0,
      failed: 3,
      results: [
        { email: 'Ada@example.com', ...failed },
        { email: 'bob@example.com', ...failed },
        { email: 'ada@example.com', ...failed },
      ],
    });
    assert.equal(await service.own.count('outreach_messages'), 0);
  });

  test(
    'sends each template in each language to the maximum number of recipients',
    inProcess,
    async () => {
      const { apiKey } = await createKey(service.own);
      const recipients = manyRecipients(500);
      for (const template of OUTREACH_TEMPLATES) {
        for (const language of LANGUAGES) {
          const answer = await send(apiKey, { template, language, recipients });
          assert.deepEqual([answer.status, readOutreach(answer).total], [200, 500]);
        }
      }
    },
  );

  test('accepts a key with its scope, with several scopes, or of an admin', inProcess, async () => {
    for (const scopes of [
      ['outreach:send'],
      ['admin'],
      ['metrics:read', 'outreach:send'],
    ] as const) {
      const { apiKey } = await createKey(service.own, { scopes });
      await expectAnswer(apiKey);
    }
  });

  test('reports the outcome of each recipient', inProcess, async () => {
    const outreach = await startOutreachService({
      script: {
        forRecipient: (address) =>
          address.startsWith('gone')
            ? { recipient: { code: 550, words: '5.1.1 no such user' } }
            : undefined,
      },
    });
    const answer = await outreach.send({
      recipients: ['ada', 'gone', 'ADA'].map((name) => ({ email: `${name}@example.com` })),
    });
    const { results } = readOutreach(answer);
    assert.match(results[0]?.message_id ?? '', /^<outreach-[\w-]+@example\.com>$/u);
    assert.deepEqual(answer.body, {
      total: 3,
      sent: 1,
      failed: 2,
      results: [
        {
          email: 'ada@example.com',
          success: true,
          error: null,
          message_id: results[0]?.message_id,
        },
        {
          email: 'gone@example.com',
          success: false,
          error: 'smtp_550: 5.1.1 no such user',
          message_id: null,
        },
        { email: 'ADA@example.com', success: false, error: 'duplicate', message_id: null },
      ],
    });
  });
});

describe('422', () => {
  test('rejects no recipients, and more than 500', inProcess, async () => {
    const { apiKey } = await createKey(service.own);
    for (const [recipients, type] of [
      [[], 'too_short'],
      [manyRecipients(501), 'too_long'],
    ] as const) {
      const answer = await send(apiKey, { template: 'personal', recipients });
      assert.deepEqual(
        [answer.status, validationErrorsOf(answer.body)],
        [422, [['body.recipients', type]]],
      );
    }
  });

  test('rejects an address that contains several addresses or a header', inProcess, async () => {
    const { apiKey } = await createKey(service.own);
    for (const email of [
      'ada@example.com, eve@example.com',
      'ada@example.com\r\nBcc: eve@example.com',
      'Ada <ada@example.com>',
      'ada@example.com\0',
      '"ada, eve"@example.com',
    ]) {
      const answer = await send(apiKey, { template: 'personal', recipients: [{ email }] });
      assert.equal(answer.status, 422, email);
      assert.deepEqual(validationErrorsOf(answer.body)[0]?.[0], 'body.recipients.0.email');
    }
  });

  test('rejects an empty or too long idempotency key', inProcess, async () => {
    const { apiKey } = await createKey(service.own);
    for (const key of ['', 'k'.repeat(256)]) {
      const headers = { 'x-api-key': apiKey, 'idempotency-key': key };
      const answer = await service.post(PATH, BODY, headers);
      assert.equal(answer.status, 422);
      assert.deepEqual(validationErrorsOf(answer.body)[0]?.[0], 'header.Idempotency-Key');
    }
  });

  test('reports a missing X-API-Key together with the problems of the body', async () => {
    const answer = await service.post(PATH, { template: 'none' });
    assert.equal(answer.status, 422);
    assert.deepEqual(validationErrorsOf(answer.body), [
      ['header.X-API-Key', 'missing'],
      ['body.template', 'enum'],
      ['body.recipients', 'missing'],
    ]);
  });

  test('ignores a key in another header', async () => {
    const answer = await service.post(PATH, BODY, {
      authorization: `Bearer ${anyUnknownApiKey()}`,
    });
    assert.deepEqual(validationErrorsOf(answer.body), [['header.X-API-Key', 'missing']]);
  });

  test('validates the body before the key', async () => {
    assert.equal((await send(anyUnknownApiKey(), {})).status, 422);
    assert.equal((await send('', '[')).status, 422);
  });
});

describe('401', () => {
  for (const [what, apiKey] of [
    ['an unknown key', anyUnknownApiKey()],
    ['a key with a wrong checksum', MISTYPED_API_KEY],
    ['a text of another form', 'sesame'],
    ['an empty text', ''],
    ['a text beyond ASCII', 'clé'],
  ] as const) {
    test(what, () => expectRefusal(apiKey, 'invalid_api_key'));
  }

  test('sends WWW-Authenticate', async () => {
    const answer = await send(anyUnknownApiKey());
    assert.equal(answer.headers.get('www-authenticate'), 'Bearer');
  });

  test('rejects a key from its expiry on', inProcess, async () => {
    const { apiKey } = await createKey(service.own, { term: { days: 1 } });
    service.own.clock.advance(DAY_MS - 1);
    await expectAnswer(apiKey);
    service.own.clock.advance(1);
    await expectRefusal(apiKey, 'invalid_api_key');
  });

  test('rejects a revoked key at once', inProcess, async () => {
    const { apiKey, key } = await createKey(service.own);
    await expectAnswer(apiKey);
    await revokeKeys(service.own, key.id);
    await expectRefusal(apiKey, 'invalid_api_key');
  });

  test('rejects a rolled key after the overlap', inProcess, async () => {
    const old = await createKey(service.own);
    const next = await rollKey(service.own, old.key.name, HOUR_MS);
    service.own.clock.advance(HOUR_MS - 1);
    await expectAnswer(old.apiKey);
    service.own.clock.advance(1);
    await expectRefusal(old.apiKey, 'invalid_api_key');
    await expectAnswer(next.apiKey);
  });

  test('rejects a key that was rolled without overlap', inProcess, async () => {
    const old = await createKey(service.own);
    await rollKey(service.own, old.key.id, 0);
    await expectRefusal(old.apiKey, 'invalid_api_key');
  });

  test('rejects an expired key of any scope', inProcess, async () => {
    const { apiKey, key } = await createKey(service.own, { scopes: ['metrics:read'] });
    await revokeKeys(service.own, key.name);
    await expectRefusal(apiKey, 'invalid_api_key');
  });
});

describe('403', () => {
  test('rejects a key of another scope', inProcess, async () => {
    const { apiKey } = await createKey(service.own, { scopes: ['metrics:read'] });
    const detail = 'The API key does not have the scope outreach:send.';
    await expectRefusal(apiKey, 'insufficient_scope', detail);
  });
});

describe('405', () => {
  test('lists POST in Allow', async () => {
    const answer = await service.send('GET', PATH);
    assert.deepEqual([answer.status, answer.body], [405, problem('method_not_allowed')]);
  });
});

describe('413', () => {
  test('parses a body of 512 KiB and rejects a larger one before the key', async () => {
    const longest = `"${'x'.repeat(512 * 1024 - 2)}"`;
    assert.equal((await service.post(PATH, longest)).status, 422);
    const answer = await service.post(PATH, `${longest} `);
    assert.deepEqual([answer.status, answer.body], [413, problem('payload_too_large')]);
  });
});

describe('415', () => {
  test('rejects a body that is not JSON before the key', async () => {
    const answer = await service.post(PATH, BODY, { 'content-type': 'text/csv' });
    assert.deepEqual([answer.status, answer.body], [415, problem('unsupported_media_type')]);
  });
});

describe('409', () => {
  test('rejects an idempotency key that was used with another body', inProcess, async () => {
    const outreach = await startOutreachService();
    const headers = { 'idempotency-key': 'rows 2 to 3' };
    const recipients = [{ email: 'ada@example.com' }];
    assert.equal((await outreach.send({ recipients }, headers)).status, 200);
    const answer = await outreach.send({ recipients, language: 'de' }, headers);
    assert.deepEqual([answer.status, answer.body], [409, problem('idempotency_key_reused')]);
    assert.equal(outreach.relay.mails.length, 1);
  });
});

describe('503', () => {
  test('rejects requests beyond the queue with Retry-After', inProcess, async () => {
    const outreach = await startOutreachService({
      script: { slowMs: 500 },
      service: { outreachLimits: { maxConcurrent: 1, maxWaiting: 1 } },
    });
    const recipients = [{ email: 'ada@example.com' }];
    const answers = await Promise.all([1, 2, 3].map(() => outreach.send({ recipients })));
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 200, 503],
    );
    const refused = answers.find(({ status }) => status === 503);
    assert.deepEqual(refused?.body, problem('overloaded'));
    assert.equal(refused.headers.get('retry-after'), '10');
  });
});
