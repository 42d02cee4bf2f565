import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import * as fc from 'fast-check';

import { LocalCounters } from './counters.ts';
import { RateLimiter, type RatePolicy } from './rate-limiter.ts';

const START = Date.UTC(2027, 0, 1);
const MINUTE: RatePolicy = { name: 'minute', quota: 5, windowSeconds: 60 };
const DAY: RatePolicy = { name: 'day', quota: 8, windowSeconds: 86_400 };

/** Returns the seconds to wait, of requests one after the other. */
async function takeTimes(limiter: RateLimiter, times: number, now: number): Promise<number[]> {
  const verdicts = Array.from({ length: times }, () => limiter.take('client', now));
  return (await Promise.all(verdicts)).map(({ retryAfterSeconds }) => retryAfterSeconds);
}

describe('RateLimiter', () => {
  test('admits the quota at once, and the next request after its share of the window', async () => {
    const limiter = new RateLimiter(new LocalCounters(), MINUTE);
    assert.deepEqual(await takeTimes(limiter, 7, START), [0, 0, 0, 0, 0, 12, 12]);
    assert.deepEqual(await takeTimes(limiter, 2, START + 11_000), [1, 1]);
    assert.deepEqual(await takeTimes(limiter, 2, START + 12_000), [0, 12]);
  });

  test('reports the remaining quota and its reset time', async () => {
    const limiter = new RateLimiter(new LocalCounters(), MINUTE);
    const take = async (now: number) => {
      const [standing] = (await limiter.take('client', now)).standings;
      return [standing?.remaining, standing?.resetSeconds];
    };
    assert.deepEqual(await Promise.all(Array.from({ length: 6 }, () => take(START))), [
      [4, 12],
      [3, 24],
      [2, 36],
      [1, 48],
      [0, 60],
      [0, 60],
    ]);
    assert.deepEqual(await take(START + 60_000), [4, 12]);
  });

  test('does not count a refunded request, and refunds only admitted ones', async () => {
    const limiter = new RateLimiter(new LocalCounters(), MINUTE);
    await limiter.refund('client', START);
    assert.deepEqual(await takeTimes(limiter, 6, START), [0, 0, 0, 0, 0, 12]);
    await limiter.refund('client', START);
    assert.deepEqual(await takeTimes(limiter, 2, START), [0, 12]);
    for (let count = 0; count < 10; count++) await limiter.refund('client', START + 60_000);
    assert.deepEqual(await takeTimes(limiter, 6, START + 60_000), [0, 0, 0, 0, 0, 12]);
  });

  test('requires all policies, and counts a refused request for none', async () => {
    const limiter = new RateLimiter(new LocalCounters(), MINUTE, DAY);
    assert.deepEqual(await takeTimes(limiter, 6, START), [0, 0, 0, 0, 0, 12]);
    assert.deepEqual(await takeTimes(limiter, 4, START + 60_000), [0, 0, 0, 10_740]);
    assert.equal((await limiter.take('client', START + 60_000)).standings[0]?.remaining, 2);
  });

  test('admits clients after the clock was set back', async () => {
    const limiter = new RateLimiter(new LocalCounters(), MINUTE);
    await takeTimes(limiter, 6, START);
    const earlier = START - 3_600_000;
    assert.deepEqual(await takeTimes(limiter, 1, earlier), [12]);
    assert.deepEqual(await takeTimes(limiter, 2, earlier + 12_000), [0, 12]);
    assert.deepEqual(await takeTimes(limiter, 6, earlier + 72_000), [0, 0, 0, 0, 0, 12]);
  });

  for (const [name, policy] of Object.entries({
    few: MINUTE,
    many: { name: 'many', quota: 1_000, windowSeconds: 1 },
  })) {
    test(`counts ${name} requests of processes whose clocks differ once`, async () => {
      const counters = new LocalCounters();
      const limiters = [new RateLimiter(counters, policy), new RateLimiter(counters, policy)];
      let allowed = 0;
      for (let count = 0; count < 4 * policy.quota; count++) {
        const now = START - 5 * (count % 2);
        const verdict = await limiters[count % 2]?.take('client', now);
        if (verdict?.retryAfterSeconds === 0) allowed++;
      }
      assert.equal(allowed, policy.quota);
    });
  }

  test('counts each client separately', async () => {
    const limiter = new RateLimiter(new LocalCounters(), MINUTE);
    await takeTimes(limiter, 6, START);
    assert.equal((await limiter.take('another', START)).retryAfterSeconds, 0);
  });

  test('evicts the least recently used of more than 50,000 clients', async () => {
    const limiter = new RateLimiter(new LocalCounters(), MINUTE);
    await takeTimes(limiter, 6, START);
    for (let index = 0; index < 50_000; index++) await limiter.take(`client ${index}`, START);
    assert.equal((await limiter.take('client', START)).retryAfterSeconds, 0);
  });

  test('admits at most the quota and its refill in any period', async () => {
    const pauses = fc.array(fc.integer({ min: 0, max: 30_000 }), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(pauses, async (waits) => {
        const limiter = new RateLimiter(new LocalCounters(), MINUTE);
        const passed: number[] = [];
        let now = START;
        for (const wait of waits) {
          now += wait;
          if ((await limiter.take('client', now)).retryAfterSeconds === 0) passed.push(now);
        }
        for (const [first, from] of passed.entries()) {
          for (const [last, to] of passed.entries()) {
            if (last < first) continue;
            assert.ok(last - first + 1 <= MINUTE.quota + (to - from + 1) / 12_000);
          }
        }
      }),
    );
  });
});
