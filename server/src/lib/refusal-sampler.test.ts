import assert from 'node:assert/strict';
import { test } from 'node:test';

import { RefusalSampler } from './refusal-sampler.ts';

function setUp() {
  let nowMs = 0;
  const sampler = new RefusalSampler(() => nowMs);
  return { sampler, pass: (ms: number) => void (nowMs += ms) };
}

const times = (count: number) => Array.from({ length: count }, (_, index) => index);

test('logs ten refusals of a network in a minute, then the number of suppressed ones', () => {
  const { sampler, pass } = setUp();
  const logged = times(25).filter(() => sampler.take('192.0.2.1', 404) !== null);
  assert.equal(logged.length, 10);
  assert.deepEqual(sampler.take('192.0.2.2', 404), { suppressed: 15 });
  pass(59_999);
  assert.equal(sampler.take('192.0.2.1', 401), null);
  pass(1);
  assert.deepEqual(sampler.take('192.0.2.1', 401), { suppressed: 1 });
  assert.deepEqual(sampler.take('192.0.2.1', 401), { suppressed: 0 });
});

test('logs sixty refusals of a status from many networks, and those of other statuses', () => {
  const { sampler } = setUp();
  const logged = times(1_000).filter((n) => sampler.take(`network ${n}`, 404) !== null);
  assert.equal(logged.length, 60);
  assert.deepEqual(sampler.take('192.0.2.1', 401), { suppressed: 940 });
});
