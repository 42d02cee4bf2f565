import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

import { readProcessorWaitMs } from './clock.ts';

const PATH = '/proc/self/schedstat';

/** Nanoseconds on processors, nanoseconds of waiting for one, time slices. */
const readOwn = (): number => Number(readFileSync(PATH, 'utf8').split(' ')[1]) / 1e6;

test('returns the run delay of this process in milliseconds', (t) => {
  if (!existsSync(PATH)) return t.skip('this kernel does not say it');
  const before = readOwn();
  const waited = readProcessorWaitMs();
  assert.ok(before > 0 && before <= waited && waited <= readOwn(), `${waited}`);
});
