import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { startTestService, type LicenseFactsChange } from '../../../test/harness.ts';
import { DAY_MS, SECOND_MS, TEST_START } from '../../../test/test-clock.ts';
import { listLicenses } from './show.ts';
import type { LicenseFilter } from './queries/license-list.ts';

const ANY: LicenseFilter = {
  email: null,
  productId: null,
  status: null,
  expiringBefore: null,
  transactionId: null,
};

const service = await startTestService();
const { context } = service;

async function list(filter: Partial<LicenseFilter>): Promise<string[]> {
  const page = { afterId: null, limit: 50 };
  const { licenses } = await listLicenses(context, { ...ANY, ...filter }, page);
  return licenses.map(({ license }) => license.id);
}

function ends(days: number): Date {
  return new Date(TEST_START.getTime() + days * DAY_MS);
}

async function issueExpiring(facts: LicenseFactsChange): Promise<string> {
  const { license } = await service.issue({ customerEmail: 'expiring@example.org', facts });
  return license.id;
}

describe('listLicenses', () => {
  test('pages through all licenses, newest first, while others are added', async () => {
    const made = [];
    for (let count = 0; count < 7; count++) {
      made.unshift((await service.issue({ productId: 'yearly' })).license.id);
    }
    const listed: string[] = [];
    let afterId: string | null = null;
    do {
      const filter = { ...ANY, productId: 'yearly' };
      const page = await listLicenses(context, filter, { afterId, limit: 3 });
      assert.ok(page.licenses.length <= 3);
      listed.push(...page.licenses.map(({ license }) => license.id));
      afterId = page.nextCursor;
      if (afterId !== null) await service.issue({ productId: 'yearly' });
    } while (afterId !== null);
    assert.deepEqual(listed, made);
  });

  test('filters by customer without case, checkout and product, and all of them together', async () => {
    const order = { customerEmail: 'Ann@Example.org', transactionId: 'txn_list' };
    const { license } = await service.issue(order);
    const { license: other } = await service.issue({ customerEmail: 'ann@example.org' });
    await service.issue({ customerEmail: 'joanna@example.org' });
    assert.deepEqual(await list({ email: 'aNN@example.org' }), [other.id, license.id]);
    assert.deepEqual(await list({ transactionId: 'txn_list' }), [license.id]);
    assert.deepEqual(await list({ transactionId: 'txn_other' }), []);
    const both = { email: 'ann@example.org', productId: 'personal', status: 'active' } as const;
    assert.deepEqual(await list({ ...both, transactionId: 'txn_list' }), [license.id]);
    assert.deepEqual(await list({ ...both, productId: 'yearly' }), []);
  });

  test('lists active licenses that end before a date as expiring, also by a cancellation', async () => {
    const soon = await issueExpiring({ expires_at: ends(5) });
    const canceled = await issueExpiring({ canceled_at: ends(4) });
    await issueExpiring({ expires_at: ends(6) });
    await issueExpiring({ expires_at: ends(-1) });
    await issueExpiring({ expires_at: ends(5), revoked_at: TEST_START });
    await issueExpiring({ revoked_at: null });
    const filter = { email: 'expiring@example.org', expiringBefore: ends(5) };
    assert.deepEqual(await list(filter), [canceled, soon]);
    const before = new Date(ends(5).getTime() - SECOND_MS);
    assert.deepEqual(await list({ ...filter, expiringBefore: before }), [canceled]);
  });
});
