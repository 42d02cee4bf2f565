import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { anyUnknownApiKey, createKey, MISTYPED_API_KEY, revokeKeys } from '../api-key-steps.ts';
import { startTestService } from '../harness.ts';
import { anyAddress, type Answer } from '../http-client.ts';
import { DAY_MS, fromStart, SECOND_MS, TEST_START } from '../test-clock.ts';
import { inProcess, openAcceptanceService } from './acceptance-service.ts';
import { problem } from './bodies.ts';
import { describeBodyRefusals } from './common-refusals.ts';

const service = await openAcceptanceService();
const PATH = '/api/v1/subscribers';

const subscribe = (email: unknown, headers: Record<string, string> = {}) =>
  service.post(PATH, { email }, headers);

/** Returns the id of a response. */
function idOf({ status, body }: Answer): string {
  assert.equal(status, 201);
  assert.ok(typeof body === 'object' && body !== null && 'id' in body);
  assert.ok(typeof body.id === 'string');
  return body.id;
}

/** Counts the subscribers with exactly this address. */
async function countRows(email: string): Promise<number> {
  const { rows } = await service.own.pool.query(
    'select count(*)::int as count from subscribers where email = $1',
    [email],
  );
  return rows[0].count;
}

describe('201', () => {
  test('returns the id, the time of the request and the address', inProcess, async () => {
    const answer = await subscribe('ada@example.com');
    const id = idOf(answer);
    assert.deepEqual(answer.body, { id, subscribed_at: fromStart(0), email: 'ada@example.com' });
    assert.equal(answer.headers.get('cache-control'), 'no-store');
  });

  test('returns the same id and the new time for a known address', inProcess, async () => {
    const id = idOf(await subscribe('grace@example.com'));
    service.own.clock.advance(3 * DAY_MS);
    const again = await subscribe('grace@example.com');
    assert.deepEqual(again.body, {
      id,
      subscribed_at: fromStart(3 * DAY_MS),
      email: 'grace@example.com',
    });
    const { rows } = await service.own.pool.query(
      'select first_subscribed_at, subscribed_at from subscribers where email = $1',
      ['grace@example.com'],
    );
    const last = new Date(TEST_START.getTime() + 3 * DAY_MS);
    assert.deepEqual(rows, [{ first_subscribed_at: TEST_START, subscribed_at: last }]);
  });

  test(
    'treats another spelling as the same address and returns it as sent',
    inProcess,
    async () => {
      const id = idOf(await subscribe('Mary.Jackson@example.com'));
      const again = await subscribe('  mary.JACKSON@EXAMPLE.Com\n');
      assert.deepEqual(again.body, {
        id,
        subscribed_at: fromStart(0),
        email: 'mary.JACKSON@example.com',
      });
      assert.equal(await countRows('Mary.Jackson@example.com'), 1);
      assert.equal(await countRows('mary.JACKSON@example.com'), 0);
    },
  );

  test('returns an id without the time of the first request', async () => {
    const id = idOf(await subscribe('dorothy@example.com'));
    assert.match(id, /^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/u);
    assert.notEqual(id, idOf(await subscribe('katherine@example.com')));
  });

  test('responds alike to known, unknown and suppressed addresses', inProcess, async () => {
    const { pool } = service.own;
    await subscribe('known@example.com');
    await subscribe('gone@example.com');
    await pool.query(
      `insert into suppressions select address_hash, 'erased', $1 from subscribers where email = $2`,
      [TEST_START, 'gone@example.com'],
    );
    await pool.query('delete from subscribers where email = $1', ['gone@example.com']);
    const answers = await Promise.all(
      ['known@example.com', 'fresh@example.com', 'gone@example.com'].map((email) =>
        subscribe(email),
      ),
    );
    const shapes = answers.map(({ status, headers, body, text }) => ({
      status,
      headers: [...headers.keys()].filter((name) => name !== 'date'),
      fields: typeof body === 'object' && body !== null ? Object.keys(body) : [],
      length: text.length - ('email' in Object(body) ? Object(body).email.length : 0),
    }));
    assert.deepEqual(shapes[1], shapes[0]);
    assert.deepEqual(shapes[2], shapes[0]);
    assert.equal(await countRows('gone@example.com'), 0, 'an erased address is not stored again');
  });

  test('confirms addresses at once without mail, except suppressed ones', inProcess, async () => {
    const { pool } = service.own;
    await subscribe('word@example.com', { 'accept-language': 'fr-CH, en;q=0.5' });
    await subscribe('never@example.com');
    await pool.query(
      `insert into suppressions select address_hash, 'unsubscribed', $1 from subscribers where email = $2`,
      [TEST_START, 'never@example.com'],
    );
    await pool.query('update subscribers set confirmed_at = null, opt_in = null where email = $1', [
      'never@example.com',
    ]);
    service.own.clock.advance(DAY_MS);
    await subscribe('never@example.com');
    const { rows } = await pool.query(
      `select email, language, confirmed_at, opt_in from subscribers
       where email in ('word@example.com', 'never@example.com') order by email desc`,
    );
    assert.deepEqual(rows, [
      { email: 'word@example.com', language: 'fr', confirmed_at: TEST_START, opt_in: 'single' },
      { email: 'never@example.com', language: null, confirmed_at: null, opt_in: null },
    ]);
    const jobs = await pool.query('select 1 from jobs');
    assert.equal(jobs.rowCount, 0);
  });
});

describe('422', () => {
  for (const email of [
    'nope',
    'ada@localhost',
    'Ada <ada@example.com>',
    '',
    'a@b@example.com',
    'a@example.0x7f',
  ]) {
    test(`rejects the address ${JSON.stringify(email)}`, async () => {
      const answer = await subscribe(email);
      assert.equal(answer.status, 422);
      const { detail } = Object(answer.body);
      assert.deepEqual(detail[0].loc, ['body', 'email']);
      assert.equal(detail[0].type, 'value_error');
    });
  }
});

describe('201 with an API key', inProcess, () => {
  test('does not limit a server that forwards its form', async () => {
    const from = { 'x-forwarded-for': anyAddress() };
    for (const scope of ['subscribers:write', 'admin'] as const) {
      const { apiKey } = await createKey(service.own, { scopes: [scope] });
      for (let count = 0; count < 10; count++) {
        const answer = await subscribe('ada@example.com', { ...from, 'x-api-key': apiKey });
        assert.equal(answer.status, 201);
        assert.equal(answer.headers.get('ratelimit'), null);
      }
    }
    // Requests with a key do not count for requests without one.
    assert.equal(
      (await subscribe('ada@example.com', from)).headers.get('ratelimit')?.slice(0, 17),
      '"subscribers";r=4',
    );
  });
});

describe('401', () => {
  test('rejects an unknown key and a mistyped one', async () => {
    for (const key of [anyUnknownApiKey(), MISTYPED_API_KEY, 'x']) {
      const answer = await subscribe('ada@example.com', { 'x-api-key': key });
      assert.deepEqual([answer.status, answer.body], [401, problem('invalid_api_key')]);
    }
  });

  test('rejects a revoked key', inProcess, async () => {
    const { apiKey, key } = await createKey(service.own, { scopes: ['subscribers:write'] });
    await revokeKeys(service.own, key.id);
    assert.equal((await subscribe('ada@example.com', { 'x-api-key': apiKey })).status, 401);
  });
});

describe('403', () => {
  test('rejects a key of another scope', inProcess, async () => {
    const { apiKey } = await createKey(service.own, { scopes: ['outreach:send'] });
    const answer = await subscribe('ada@example.com', { 'x-api-key': apiKey });
    const detail = 'The API key does not have the scope subscribers:write.';
    assert.deepEqual(
      [answer.status, answer.body],
      [403, problem('insufficient_scope', { detail })],
    );
  });
});

describe('429', inProcess, () => {
  test('serves five requests a minute and rejects the sixth until the next is allowed', async () => {
    const from = { 'x-forwarded-for': anyAddress() };
    for (let count = 0; count < 5; count++) {
      assert.equal((await subscribe('ada@example.com', from)).status, 201);
    }
    const refused = await subscribe('ada@example.com', from);
    assert.deepEqual([refused.status, refused.body], [429, problem('rate_limited')]);
    assert.equal(refused.headers.get('retry-after'), '12');
    assert.equal(
      refused.headers.get('ratelimit-policy'),
      '"subscribers";q=5;w=60, "subscribers-day";q=30;w=86400',
    );
    assert.equal(
      refused.headers.get('ratelimit'),
      '"subscribers";r=0;t=60, "subscribers-day";r=25;t=14400',
    );
    service.own.clock.advance(12 * SECOND_MS);
    assert.equal((await subscribe('ada@example.com', from)).status, 201);
    assert.equal((await subscribe('ada@example.com')).status, 201, 'another address is served');
  });

  test('does not count requests that fail validation', async () => {
    const from = { 'x-forwarded-for': anyAddress() };
    for (let count = 0; count < 10; count++) {
      assert.equal((await subscribe('nope', from)).status, 422);
    }
    assert.equal((await subscribe('ada@example.com', from)).status, 201);
  });

  test('serves thirty requests a day, then one every 48 minutes', async () => {
    const from = { 'x-forwarded-for': anyAddress() };
    const statuses: number[] = [];
    for (let count = 0; count < 32; count++) {
      statuses.push((await subscribe('ada@example.com', from)).status);
      service.own.clock.advance(12 * SECOND_MS);
    }
    assert.deepEqual(statuses, [...Array.from({ length: 30 }, () => 201), 429, 429]);
  });

  test('derives the limits of a minute and a day from LATCHKEY_SUBSCRIBE_RATE', async () => {
    const limited = await startTestService({ settings: { LATCHKEY_SUBSCRIBE_RATE: '2/3' } });
    const from = { 'x-forwarded-for': anyAddress() };
    const answers: Answer[] = [];
    for (let count = 0; count < 4; count++) {
      answers.push(await limited.post(PATH, { email: 'ada@example.com' }, from));
    }
    assert.deepEqual(
      answers.map(({ status }) => status),
      [201, 201, 201, 429],
    );
    assert.equal(
      answers[0]?.headers.get('ratelimit-policy'),
      '"subscribers";q=3;w=90, "subscribers-day";q=12;w=86400',
    );
  });

  test('counts the IPv6 addresses of one /64 as one', async () => {
    const { clock } = service.own;
    for (let count = 1; count <= 5; count++) {
      const from = { 'x-forwarded-for': `2001:db8:1:2::${count}` };
      assert.equal((await subscribe('ada@example.com', from)).status, 201);
    }
    const from = { 'x-forwarded-for': '2001:db8:1:2:ffff::1' };
    assert.equal((await subscribe('ada@example.com', from)).status, 429);
    assert.equal(clock.now().getTime(), TEST_START.getTime());
  });
});

describeBodyRefusals(service, PATH, ['email']);
