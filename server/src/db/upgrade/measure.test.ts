import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';

import { estimateMinutes } from './measure.ts';

const DOCUMENT = new URL('../../../../docs/operations/install.md', import.meta.url);

test('estimates the duration by the rate that the document names', async () => {
  const rate = /About a minute for each (\d+) MB/.exec(await readFile(DOCUMENT, 'utf8'))?.[1];
  const bytes = Number(rate) * 1_000_000;
  assert.deepEqual([bytes, bytes + 1, 4 * bytes].map(estimateMinutes), [1, 2, 4]);
});
