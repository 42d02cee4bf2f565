import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';

import { anyAddress } from '../http-client.ts';
import { DAY_MS, fromStart, HOUR_MS, SECOND_MS, TEST_START } from '../test-clock.ts';
import { inProcess, openAcceptanceService } from './acceptance-service.ts';
import { problem, readBody } from './bodies.ts';

const service = await openAcceptanceService();

/** The field of a paid license that shows its key for a day. */
const BILLED = { reveal_until: new Date(TEST_START.getTime() + DAY_MS) };

const PENDING = {
  license_key: null,
  status: 'pending',
  created_at: null,
  expires_at: null,
  product_type: null,
  licenses: [],
};

function ask(transactionId: string, address = anyAddress()) {
  return service.get(`/api/v1/licenses/check/${encodeURIComponent(transactionId)}`, {
    'x-forwarded-for': address,
  });
}

describe('200', () => {
  test('pending for an unknown transaction', async () => {
    for (const id of [`txn_${randomUUID()}`, 'é/?#', 'x'.repeat(200)]) {
      const answer = await ask(id);
      assert.deepEqual([answer.status, answer.body], [200, PENDING], id);
      assert.equal(answer.headers.get('cache-control'), 'no-store');
    }
  });

  test('one checkout may be polled without a limit, also beside many others', async () => {
    const address = anyAddress();
    const transactionId = `txn_${randomUUID()}`;
    for (let poll = 0; poll < 300; poll++) {
      assert.equal((await ask(transactionId, address)).status, 200);
    }
    for (let buyer = 0; buyer < 40; buyer++) {
      assert.equal((await ask(`txn_${randomUUID()}`, address)).status, 200);
    }
  });

  test('no key of a manually issued license', inProcess, async () => {
    const transactionId = `txn_${randomUUID()}`;
    await service.own.issue({ transactionId });
    const { licenses: _, ...body } = readBody((await ask(transactionId)).body);
    assert.deepEqual([body['license_key'], body['status']], [null, 'active']);
  });

  test('an existing license: in the fields and in the list', inProcess, async () => {
    const transactionId = `txn_${randomUUID()}`;
    assert.deepEqual((await ask(transactionId)).body, PENDING);
    const expiresAt = new Date(TEST_START.getTime() + DAY_MS);
    const { licenseKey } = await service.own.issue({
      productId: 'yearly',
      transactionId,
      expiresAt,
      facts: BILLED,
    });
    const license = {
      license_key: licenseKey,
      status: 'active',
      created_at: fromStart(0),
      expires_at: fromStart(DAY_MS),
      product_type: 'yearly-plan',
    };
    const answer = await ask(transactionId);
    assert.deepEqual(answer.body, { ...license, licenses: [license] });
    assert.equal(answer.headers.get('cache-control'), 'no-store');
  });

  test(
    'several line items: the first in the fields, all in the list in order',
    inProcess,
    async () => {
      const transactionId = `txn_${randomUUID()}`;
      const made = [];
      for (let item = 0; item < 3; item++)
        made.push(await service.own.issue({ transactionId, facts: BILLED }));
      // The order of the line items differs from that of the ids.
      for (const [index, { license }] of made.entries()) {
        await service.own.pool.query(
          'update license_transactions set position = $2 where license_id = $1',
          [license.id, made.length - index],
        );
      }
      const { licenses, ...first } = readBody((await ask(transactionId)).body);
      assert.ok(Array.isArray(licenses));
      assert.deepEqual(licenses[0], first);
      assert.deepEqual(
        licenses.map((license) => readBody(license)['license_key']),
        made.map(({ licenseKey }) => licenseKey).toReversed(),
      );
    },
  );

  test('concurrent requests each get their own checkout', inProcess, async () => {
    const issued = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const transactionId = `txn_${randomUUID()}`;
        const { licenseKey } = await service.own.issue({ transactionId, facts: BILLED });
        return { transactionId, licenseKey };
      }),
    );
    const asked = [...issued, { transactionId: 'txn_nobody', licenseKey: null }, ...issued];
    const answers = await Promise.all(asked.map(({ transactionId }) => ask(transactionId)));
    assert.deepEqual(
      answers.map(({ body }) => readBody(body)['license_key']),
      asked.map(({ licenseKey }) => licenseKey),
    );
  });

  test('the key is shown for 24 hours to the second', inProcess, async () => {
    const transactionId = `txn_${randomUUID()}`;
    const { licenseKey } = await service.own.issue({ transactionId, facts: BILLED });
    const shownAfter = async (milliseconds: number) => {
      service.own.clock.set(new Date(TEST_START.getTime() + milliseconds));
      const { license_key: key, licenses, status } = readBody((await ask(transactionId)).body);
      assert.ok(Array.isArray(licenses));
      assert.equal(readBody(licenses[0])['license_key'], key);
      assert.equal(status, 'active');
      return key;
    };
    assert.equal(await shownAfter(0), licenseKey);
    assert.equal(await shownAfter(24 * HOUR_MS - SECOND_MS), licenseKey);
    assert.equal(await shownAfter(24 * HOUR_MS), null);
    assert.equal(await shownAfter(24 * HOUR_MS + SECOND_MS), null);
  });

  const states = [
    ['refunded', { refunded_at: TEST_START }, false, null],
    ['revoked', { revoked_at: TEST_START }, false, null],
    ['suspended', { suspended_at: TEST_START }, true, null],
    ['paused', { paused_at: TEST_START }, true, fromStart(0)],
    ['canceled', { canceled_at: TEST_START }, true, fromStart(0)],
    ['expired', { expires_at: TEST_START }, true, fromStart(0)],
    ['past_due', { expires_at: TEST_START, subscription: true }, true, fromStart(0)],
  ] as const;
  for (const [status, facts, isShown, expiresAt] of states) {
    test(`${status}: its key is ${isShown ? 'shown' : 'not shown'}`, inProcess, async () => {
      const transactionId = `txn_${randomUUID()}`;
      const { licenseKey } = await service.own.issue({
        transactionId,
        facts: { ...BILLED, ...facts },
      });
      const { licenses: _, ...body } = readBody((await ask(transactionId)).body);
      assert.deepEqual(body, {
        license_key: isShown ? licenseKey : null,
        status,
        created_at: fromStart(0),
        expires_at: expiresAt,
        product_type: 'personal',
      });
    });
  }

  test('a product that is no longer in the catalogue has no type', inProcess, async () => {
    const { own } = service;
    const transactionId = `txn_${randomUUID()}`;
    await own.issue({ productId: 'yearly', transactionId });
    const before = own.context.catalog();
    try {
      const products = new Map([...before.products].filter(([id]) => id !== 'yearly'));
      own.useCatalog({ ...before, products });
      assert.equal(readBody((await ask(transactionId)).body)['product_type'], null);
    } finally {
      own.useCatalog(before);
    }
  });
});

describe('400', () => {
  test('a malformed percent-encoding', async () => {
    const answer = await service.get('/api/v1/licenses/check/%E0%A4%A');
    assert.equal(answer.status, 400);
    assert.equal(readBody(answer.body)['code'], 'bad_request');
  });
});

describe('404', () => {
  test('an empty identifier', async () => {
    const answer = await ask('');
    assert.deepEqual([answer.status, answer.body], [404, problem('not_found')]);
  });
});

describe('405', () => {
  test('POST is refused with GET in Allow', async () => {
    const answer = await service.post('/api/v1/licenses/check/txn_1', {});
    assert.deepEqual([answer.status, answer.body], [405, problem('method_not_allowed')]);
    assert.deepEqual(answer.headers.get('allow')?.split(', ').sort(), ['GET', 'HEAD', 'OPTIONS']);
  });
});

describe('414', () => {
  test('an identifier of more than 200 characters', async () => {
    const answer = await ask('x'.repeat(201));
    assert.deepEqual([answer.status, answer.body], [414, problem('uri_too_long')]);
  });
});

describe('429', () => {
  test(
    'rejects unknown checkouts beyond 120 an hour, until the next is allowed',
    inProcess,
    async () => {
      const address = anyAddress();
      const known = `txn_${randomUUID()}`;
      await service.own.issue({ transactionId: known });
      await service.own.issue({ transactionId: 'seen before' });
      assert.equal((await ask('seen before', address)).status, 200);
      for (let miss = 0; miss < 120; miss++) {
        assert.equal((await ask(`txn_miss_${miss}`, address)).status, 200);
      }
      const refused = await ask('txn_miss_120', address);
      assert.deepEqual([refused.status, refused.body], [429, problem('rate_limited')]);
      assert.equal(refused.headers.get('retry-after'), '30');
      assert.equal(refused.headers.get('ratelimit-policy'), '"checks";q=120;w=3600');
      assert.equal(refused.headers.get('ratelimit'), '"checks";r=0;t=30');
      assert.equal((await ask(known, address)).status, 429, 'an unknown checkout is not looked up');
      assert.equal((await ask('seen before', address)).status, 200);
      assert.equal((await ask('txn_miss_7', address)).status, 200, 'a poll continues');
      assert.equal((await ask('txn_miss_120')).status, 200, 'another network is served');
      service.own.clock.advance(30 * SECOND_MS);
      assert.equal((await ask(known, address)).status, 200);
    },
  );

  test('a checkout whose license was created does not count', inProcess, async () => {
    const address = anyAddress();
    for (let sale = 0; sale < 130; sale++) {
      const transactionId = `txn_${randomUUID()}`;
      assert.equal((await ask(transactionId, address)).status, 200);
      await service.own.issue({ transactionId });
      const answer = await ask(transactionId, address);
      assert.equal(readBody(answer.body)['status'], 'active');
    }
  });
});

describe('422', () => {
  test('a null character in the path', async () => {
    const answer = await ask('txn\0');
    assert.equal(answer.status, 422);
    assert.match(answer.text, /"loc":\["path","transaction_id"\]/);
  });
});
