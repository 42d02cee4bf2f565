import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { CheckLimiter } from './check-limiter.ts';

const MINUTE_MS = 60_000;
const CLIENT = '203.0.113.7';

function setUp() {
  const time = { ms: Date.UTC(2027, 0, 1) };
  const limiter = new CheckLimiter({ now: () => new Date(time.ms) });
  const admitMany = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => limiter.admit(CLIENT, `txn_${from + index}`));
  return { time, limiter, admitMany };
}

describe('CheckLimiter', () => {
  test('admits 120 ids at once and then two a minute', () => {
    const { time, admitMany } = setUp();
    assert.ok(admitMany(0, 120).every((seconds) => seconds === 0));
    assert.deepEqual(admitMany(120, 2), [30, 30]);
    time.ms += MINUTE_MS;
    assert.deepEqual(admitMany(120, 3), [0, 0, 30]);
  });

  test('counts an id that is polled once', () => {
    const { limiter, admitMany } = setUp();
    for (let poll = 0; poll < 1_000; poll++) assert.equal(limiter.admit(CLIENT, 'txn_0'), 0);
    assert.ok(admitMany(0, 120).every((seconds) => seconds === 0));
    assert.equal(limiter.admit(CLIENT, 'txn_0'), 0);
  });

  test('does not count an id whose license was found, and refunds it once', () => {
    const { limiter, admitMany } = setUp();
    admitMany(0, 120);
    for (let poll = 0; poll < 5; poll++) limiter.recordFound(CLIENT, 'txn_0');
    assert.deepEqual(admitMany(120, 2), [0, 30]);
    limiter.recordFound(CLIENT, 'txn_never_admitted');
    assert.deepEqual(admitMany(121, 1), [30]);
  });

  test('counts networks separately, IPv6 addresses by their /64', () => {
    const { limiter, admitMany } = setUp();
    admitMany(0, 121);
    assert.equal(limiter.admit('203.0.113.8', 'txn_121'), 0);
    for (let id = 0; id < 120; id++) limiter.admit(`2001:db8:0:1::${id}`, `txn_${id}`);
    assert.equal(limiter.admit('2001:db8:0:1::ffff', 'txn_120'), 30);
    assert.equal(limiter.admit('2001:db8:0:2::1', 'txn_120'), 0);
  });
});
