/** Compares the rule of a license's status with SQL, for all combinations of facts before, at and after each boundary. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { bind, condition, type Condition } from '#server/db/list.ts';
import { upsertLicenseDays } from '#server/features/analytics/queries/roll-up-licenses.ts';
import { dayOf } from '#server/features/analytics/rules/days.ts';
import {
  endsBefore,
  hasStatus,
  isSilentSince,
} from '#server/features/license-admin/queries/license-conditions.ts';
import { countLicensesByStatus } from '#server/features/licenses/queries/license-counts.ts';
import { listLicensePage } from '#server/features/licenses/queries/license-list.ts';
import {
  statusCondition,
  USABLE_UNTIL,
  usableCondition,
} from '#server/features/licenses/rules/status-sql.ts';
import {
  isUsable,
  LICENSE_STATUSES,
  licenseStatus,
  type LicenseStatus,
} from '#server/features/licenses/rules/status.ts';
import { listTransitions } from '#server/features/outgoing-webhooks/queries/transitions.ts';
import { countPastDue } from '#server/features/overview/queries/needs.ts';
import { isInState, isTrial } from '#server/features/trials/queries/trial-list.ts';

import { openTestPool } from './database-pool.ts';
import {
  GRID,
  GRID_END,
  GRID_START,
  MOMENTS,
  storeGrid,
  type GridLicense,
} from './license-status-grid.ts';

// One connection, whose time zone has a day of 23 hours in the grace period.
const pool = await openTestPool({ maxConnections: 1 });
await pool.query(`set time zone 'Europe/Berlin'`);
await storeGrid(pool);

const NOW = '$1::timestamptz';
const PAGE = { afterId: null, limit: 100 };
const ANY = {
  email: null,
  productId: null,
  status: null,
  expiringBefore: null,
  transactionId: null,
} as const;

interface Expected extends GridLicense {
  readonly status: LicenseStatus;
  readonly isUsable: boolean;
}

/** The grid with what the rule returns. */
function expectAt(now: Date): Expected[] {
  return GRID.map((license) => {
    const status = licenseStatus(license, now);
    return { ...license, status, isUsable: isUsable(status) };
  });
}

function idsOf(
  licenses: readonly Expected[],
  isWanted: (license: Expected) => boolean,
): readonly string[] {
  return licenses.filter(isWanted).map(({ id }) => id);
}

async function readIds(query: Condition): Promise<unknown[]> {
  const { text, values } = bind(query);
  const { rows } = await pool.query(`select id from (${text}) as found (id) order by id`, values);
  return rows.map(({ id }) => id);
}

/** The licenses that fulfil a condition. */
async function select({ sql, parameters }: Condition, from = 'licenses l'): Promise<unknown[]> {
  return readIds(condition(`select l.id from ${from} where ${sql}`, ...parameters));
}

async function forEachMoment(
  check: (now: Date, expected: readonly Expected[]) => Promise<void>,
): Promise<void> {
  for (const now of MOMENTS) await check(now, expectAt(now));
}

test('the grid has every status', () => {
  const statuses = new Set(MOMENTS.flatMap((now) => expectAt(now).map(({ status }) => status)));
  assert.deepEqual(statuses, new Set(LICENSE_STATUSES.toReversed()));
});

test('exactly one condition is true, that of the status', async () => {
  const cases = LICENSE_STATUSES.map(
    (status) => `case when ${statusCondition(status, NOW)} then '${status}' end`,
  );
  const text = `select id, concat_ws(' ', ${cases.join(', ')}) as status from licenses order by id`;
  await forEachMoment(async (now, expected) => {
    const { rows } = await pool.query(text, [now]);
    assert.deepEqual(
      rows,
      expected.map(({ id, status }) => ({ id, status })),
      now.toISOString(),
    );
  });
});

test('the condition of usable licenses and its negation match the rule, and so does their end', async () => {
  const text = `select id, ${usableCondition(NOW)} as "isUsable", ${USABLE_UNTIL} <= ${NOW} is not true as "isBeforeEnd"
                from licenses order by id`;
  await forEachMoment(async (now, expected) => {
    const { rows } = await pool.query(text, [now]);
    const wanted = expected.map(({ id, isUsable: usable }) => ({
      id,
      isUsable: usable,
      isBeforeEnd: usable,
    }));
    assert.deepEqual(rows, wanted, now.toISOString());
  });
});

test('lists and counts of licenses have those of the status', async () => {
  await forEachMoment(async (now, expected) => {
    const counted = await countLicensesByStatus(pool, now);
    for (const status of LICENSE_STATUSES) {
      const ids = idsOf(expected, (license) => license.status === status);
      const real = idsOf(expected, (license) => license.status === status && !license.isTest);
      const page = await listLicensePage(pool, { ...ANY, status }, PAGE, now);
      assert.equal(counted[status], real.length);
      assert.deepEqual(
        page.map(({ id }) => id),
        ids.toReversed().slice(0, PAGE.limit),
      );
    }
  });
});

test('filters of operators find the licenses of the status, and their candidates contain these', async () => {
  await forEachMoment(async (now, expected) => {
    for (const status of LICENSE_STATUSES) {
      const ids = idsOf(expected, (license) => license.status === status);
      const filter = hasStatus(status, now);
      assert.deepEqual(await select(filter), ids, status);
      const { candidates, isExact = false } = filter;
      assert.ok(candidates);
      const found = new Set(await readIds(candidates));
      assert.ok(
        ids.every((id) => found.has(id)),
        status,
      );
      if (isExact) assert.equal(found.size, ids.length);
    }
    const usable = idsOf(expected, (license) => license.isUsable);
    assert.deepEqual(await select(isSilentSince(GRID_START, now)), usable);
    const expiring = idsOf(
      expected,
      ({ expiresAt, status }) => status === 'active' && expiresAt !== null,
    );
    assert.deepEqual(await select(endsBefore(GRID_END, now)), expiring);
  });
});

test('a trial is running while it is usable, and has ended otherwise', async () => {
  const from = 'licenses l left join trial_conversions c on c.trial_id = l.id';
  await forEachMoment(async (now, expected) => {
    for (const state of ['running', 'ended'] as const) {
      const { sql, parameters } = isInState(state, now);
      const found = await select(condition(`${isTrial.sql} and ${sql}`, ...parameters), from);
      const ids = idsOf(
        expected,
        (license) =>
          license.trial && license.expiresAt !== null && license.isUsable === (state === 'running'),
      );
      assert.deepEqual(found, ids, state);
    }
  });
});

test('the overview counts the past due licenses', async () => {
  await forEachMoment(async (now, expected) => {
    const ids = idsOf(expected, ({ status, isTest }) => status === 'past_due' && !isTest);
    const [counted] = await countPastDue(pool, now);
    assert.equal(counted?.count ?? 0, ids.length, now.toISOString());
  });
});

test('the roll-up of a day counts the usable licenses', async () => {
  await forEachMoment(async (now, expected) => {
    await upsertLicenseDays(pool, dayOf(now), now);
    const { rows } = await pool.query('select usable::int from license_days where day = $1', [
      dayOf(now),
    ]);
    const usable = idsOf(expected, (each) => each.isUsable && !each.trial && !each.isTest);
    assert.deepEqual(rows, [{ usable: usable.length }], now.toISOString());
  });
});

test('the transitions contain every time at which the status changes', async () => {
  const cursor = { at: GRID_START, licenseId: '00000000-0000-0000-0000-000000000000' };
  const found = await listTransitions(pool, cursor, GRID_END, 1_000_000);
  const known = new Set(found.map(({ at, licenseId }) => `${licenseId} ${at.getTime()}`));
  let changes = 0;
  for (const license of GRID) {
    for (const now of MOMENTS) {
      const earlier = licenseStatus(license, new Date(now.getTime() - 1));
      if (licenseStatus(license, now) === earlier) continue;
      changes += 1;
      assert.ok(known.has(`${license.id} ${now.getTime()}`), JSON.stringify(license));
    }
  }
  assert.ok(changes > 0);
});
