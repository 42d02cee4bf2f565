import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { BUCKETS, bucketOf, percentile } from './histogram.ts';

test('a percentile is at most 9 % above the exact one, and never below it', () => {
  const latencies = fc.array(fc.double({ min: 0.11, max: 90_000, noNaN: true }), { minLength: 1 });
  fc.assert(
    fc.property(latencies, fc.constantFrom(0.5, 0.99, 1), (some, share) => {
      const counts = new Uint32Array(BUCKETS);
      for (const each of some) counts[bucketOf(each)] = (counts[bucketOf(each)] ?? 0) + 1;
      const sorted = some.toSorted((a, b) => a - b);
      const exact = sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN;
      const found = percentile(counts, share) ?? Number.NaN;
      assert.ok(found >= exact * 0.999 && found <= exact * 1.0906, `${found} for ${exact}`);
    }),
  );
});

test('there is no percentile without latencies', () => {
  assert.equal(percentile(new Uint32Array(BUCKETS), 0.5), null);
});
