import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { LocalCounters } from '#server/lib/counters.ts';

import { CheckLimiter } from './check-limiter.ts';

const MINUTE_MS = 60_000;
const CLIENT = '203.0.113.7';

function setUp() {
  const time = { ms: Date.UTC(2027, 0, 1) };
  const limiter = new CheckLimiter({ now: () => new Date(time.ms) }, new LocalCounters());
  const admitMany = (from: number, count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, index) => limiter.admit(CLIENT, `txn_${from + index}`)),
    );
  return { time, limiter, admitMany };
}

describe('CheckLimiter', () => {
  test('admits 120 ids at once and then two a minute', async () => {
    const { time, admitMany } = setUp();
    assert.ok((await admitMany(0, 120)).every((seconds) => seconds === 0));
    assert.deepEqual(await admitMany(120, 2), [30, 30]);
    time.ms += MINUTE_MS;
    assert.deepEqual(await admitMany(120, 3), [0, 0, 30]);
  });

  test('counts an id that is polled once', async () => {
    const { limiter, admitMany } = setUp();
    for (let poll = 0; poll < 1_000; poll++) assert.equal(await limiter.admit(CLIENT, 'txn_0'), 0);
    assert.ok((await admitMany(0, 120)).every((seconds) => seconds === 0));
    assert.equal(await limiter.admit(CLIENT, 'txn_0'), 0);
  });

  test('does not count an id whose license was found, and refunds it once', async () => {
    const { limiter, admitMany } = setUp();
    await admitMany(0, 120);
    for (let poll = 0; poll < 5; poll++) await limiter.recordFound(CLIENT, 'txn_0');
    assert.deepEqual(await admitMany(120, 2), [0, 30]);
    await limiter.recordFound(CLIENT, 'txn_never_admitted');
    assert.deepEqual(await admitMany(121, 1), [30]);
  });

  test('counts networks separately, IPv6 addresses by their /64', async () => {
    const { limiter, admitMany } = setUp();
    await admitMany(0, 121);
    assert.equal(await limiter.admit('203.0.113.8', 'txn_121'), 0);
    for (let id = 0; id < 120; id++) await limiter.admit(`2001:db8:0:1::${id}`, `txn_${id}`);
    assert.equal(await limiter.admit('2001:db8:0:1::ffff', 'txn_120'), 30);
    assert.equal(await limiter.admit('2001:db8:0:2::1', 'txn_120'), 0);
  });
});
