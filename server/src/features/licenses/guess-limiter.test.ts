import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { LocalCounters } from '#server/lib/counters.ts';

import { GUESS_POLICY, GuessLimiter } from './guess-limiter.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

function setUp() {
  const time = { ms: Date.UTC(2027, 0, 1) };
  const limiter = new GuessLimiter({ now: () => new Date(time.ms) }, new LocalCounters());
  const fail = (address = '203.0.113.7') => limiter.recordFailure(address);
  const failTimes = (times: number, address?: string) =>
    Promise.all(Array.from({ length: times }, () => fail(address)));
  return { time, limiter, fail, failTimes };
}

const TEN_ANSWERS = Array.from({ length: 10 }, () => 0);

describe('GuessLimiter', () => {
  test('admits ten failures in five minutes, and refuses the eleventh', async () => {
    const { failTimes, fail } = setUp();
    assert.deepEqual(await failTimes(10), TEN_ANSWERS);
    assert.equal(await fail(), 30);
    assert.equal(GUESS_POLICY, '"guesses";q=10;w=300');
  });

  test('a pause returns the seconds left, rounded up, and does not grow', async () => {
    const { time, failTimes, fail } = setUp();
    await failTimes(11);
    time.ms += 500;
    assert.equal(await fail(), 30);
    time.ms += 28_500;
    assert.deepEqual(await failTimes(3), [1, 1, 1]);
    time.ms += SECOND_MS;
    assert.equal(await fail(), 60);
  });

  test('each pause is twice as long as the one before, up to 30 minutes', async () => {
    const { time, failTimes } = setUp();
    const pauses: number[] = [];
    for (let pause = 0; pause < 9; pause++) {
      const seconds = (await failTimes(11)).find((each) => each > 0) ?? 0;
      pauses.push(seconds);
      time.ms += seconds * SECOND_MS;
    }
    assert.deepEqual(pauses, [30, 60, 120, 240, 480, 960, 1800, 1800, 1800]);
  });

  test('slow failures are never paused', async () => {
    const { time, fail } = setUp();
    for (let failure = 0; failure < 100; failure++) {
      assert.equal(await fail(), 0);
      time.ms += 31 * SECOND_MS;
    }
  });

  test('a new window starts five minutes after the first failure of the last one', async () => {
    const { time, failTimes } = setUp();
    await failTimes(10);
    time.ms += 5 * MINUTE_MS;
    assert.deepEqual(await failTimes(10), TEN_ANSWERS);
    time.ms += 5 * MINUTE_MS - 1;
    assert.deepEqual(await failTimes(1), [30]);
  });

  test('after an hour without a failure an address starts from zero', async () => {
    const { time, failTimes, fail } = setUp();
    await failTimes(11);
    time.ms += 30 * SECOND_MS + 60 * MINUTE_MS;
    assert.deepEqual(await failTimes(10), TEN_ANSWERS);
    assert.equal(await fail(), 30);
  });

  test('addresses are counted separately', async () => {
    const { failTimes, fail } = setUp();
    await failTimes(11);
    assert.equal(await fail('203.0.113.8'), 0);
    assert.equal(await fail('2001:db8::7'), 0);
  });

  test('IPv6 addresses are counted by their /64 in any notation', async () => {
    const { failTimes, fail } = setUp();
    await failTimes(10, '2001:db8:0:1::1');
    assert.equal(await fail('2001:0DB8:0000:0001:ffff:ffff:ffff:ffff'), 30);
    assert.equal(await fail('2001:db8:0:1:1:2:3:4'), 30);
    assert.equal(await fail('2001:db8:0:2::1'), 0);
    assert.equal(await fail('2001:db8::1:0:0:0:1'), 30);
    await failTimes(10, '::1');
    assert.equal(await fail('0:0:0:0:1::'), 30);
  });

  test('a paused address is refused guessable keys before the look-up, except those that it used before', async () => {
    const { time, limiter, failTimes } = setUp();
    const address = '203.0.113.7';
    assert.equal(await limiter.admit(address, 'used'), 0);
    assert.equal(await limiter.recordSuccess(address, 'used'), 0);
    await failTimes(11);
    assert.deepEqual(
      await Promise.all(['used', 'new'].map((key) => limiter.admit(address, key))),
      [0, 30],
    );
    assert.equal(await limiter.recordSuccess(address, 'used'), 0);
    assert.equal(
      await limiter.recordSuccess(address, 'new'),
      30,
      'found when the pause had started',
    );
    assert.equal(await limiter.admit('203.0.113.8', 'new'), 0);
    assert.equal(await limiter.recordSuccess('203.0.113.8', 'new'), 0);
    assert.equal(
      await limiter.admit(address, 'new'),
      30,
      'a key that another network used is not admitted',
    );
    time.ms += 30 * SECOND_MS;
    assert.equal(await limiter.admit(address, 'new'), 0);
  });

  test('of more than 50,000 addresses the oldest are dropped', async () => {
    const { failTimes, fail } = setUp();
    await failTimes(11, 'the first');
    for (let index = 0; index < 50_000; index++) await fail(`address ${index}`);
    assert.equal(await fail('the first'), 0);
    assert.equal(await fail('address 49999'), 0);
  });
});
