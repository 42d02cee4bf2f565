import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Client } from 'pg';

import { startTestService } from '../../../test/harness.ts';
import { readSoldTerms } from './terms.ts';

const service = await startTestService();

test('readSoldTerms reads the terms of several licenses in one statement', async (t) => {
  const [yearly, another] = [await issueYearly(), await issueYearly()];
  const query = t.mock.method(Client.prototype, 'query');
  const terms = await readSoldTerms(service.pool, [yearly, another, yearly]);
  assert.equal(query.mock.callCount(), 1);
  const { tier, features } = yearly;
  const sold = { tier, features, offlineDays: 14 };
  assert.deepEqual(terms, [sold, sold, sold]);
});

async function issueYearly() {
  const { license } = await service.issue({ productId: 'yearly' });
  return license;
}
