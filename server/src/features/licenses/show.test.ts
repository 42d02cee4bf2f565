import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import * as fc from 'fast-check';
import { v7 as makeUuid } from 'uuid';

import { startTestService, type LicenseFactsChange } from '../../../test/harness.ts';
import { DAY_MS, SECOND_MS, TEST_START } from '../../../test/test-clock.ts';
import { listLicenses } from './show.ts';
import { countLicensesByStatus } from './queries/license-counts.ts';
import { listLicensePage, type LicenseFilter } from './queries/license-list.ts';
import type { LicenseStatusFacts } from './rules/facts.ts';
import { anyStatusFacts } from './rules/status-facts.fixture.ts';
import { GRACE_DAYS, LICENSE_STATUSES, licenseStatus } from './rules/status.ts';

const ANY: LicenseFilter = {
  email: null,
  productId: null,
  status: null,
  expiringBefore: null,
  transactionId: null,
};

const service = await startTestService();
const { context, pool } = service;

async function insertLicenses(licenses: readonly LicenseStatusFacts[]): Promise<void> {
  for (const each of licenses) {
    await pool.query(
      `insert into licenses (id, product_id, tier, features, max_activations, trial, subscription, expires_at,
                             cancel_scheduled_for, canceled_at, paused_at, suspended_at, disputed_at, refunded_at,
                             revoked_at, key_sealed, key_hint, created_at)
       values ($1, 'property', 't', '{}', 1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, '', '', now())`,
      [
        each.id,
        each.trial,
        each.subscription,
        each.expiresAt,
        each.cancelScheduledFor,
        each.canceledAt,
        each.pausedAt,
        each.suspendedAt,
        each.disputedAt,
        each.refundedAt,
        each.revokedAt,
      ],
    );
  }
}

/** Every time at which the status of one may change, and one beside it. */
function momentsOf({ expiresAt, cancelScheduledFor, pausedAt, canceledAt }: LicenseStatusFacts) {
  const graceEnd = expiresAt && new Date(expiresAt.getTime() + GRACE_DAYS * DAY_MS);
  return [expiresAt, cancelScheduledFor, pausedAt, canceledAt, graceEnd].flatMap((time) =>
    time === null ? [] : [time, new Date(time.getTime() - 1)],
  );
}

test('the SQL conditions match the rule for every status at any time', async () => {
  const licenses = fc
    .sample(anyStatusFacts, { numRuns: 400, seed: 7 })
    .map((license) => ({ ...license, id: makeUuid() }));
  await insertLicenses(licenses);
  const moments = fc.sample(fc.constantFrom(...licenses.flatMap(momentsOf)), {
    numRuns: 40,
    seed: 7,
  });
  const seen = new Set<string>();
  for (const now of moments) {
    const byStatus = Map.groupBy(licenses, (license) => licenseStatus(license, now));
    const counts = LICENSE_STATUSES.map((each) => [each, byStatus.get(each)?.length ?? 0]);
    assert.deepEqual(await countLicensesByStatus(pool, now), Object.fromEntries(counts));
    for (const status of LICENSE_STATUSES) {
      const expected = (byStatus.get(status) ?? []).map(({ id }) => id).sort();
      const filter = { ...ANY, productId: 'property', status };
      const page = { afterId: null, limit: 1_000 };
      const listed = await listLicensePage(pool, filter, page, now);
      assert.deepEqual(
        listed.map(({ id }) => id).sort(),
        expected,
        `${status} at ${now.toISOString()}`,
      );
      if (expected.length > 0) seen.add(status);
    }
  }
  assert.equal(seen.size, LICENSE_STATUSES.length, 'every status occurred');
  await pool.query(`delete from licenses where product_id = 'property'`);
});

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
