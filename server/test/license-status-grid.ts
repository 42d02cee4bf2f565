/** Licenses with every combination of the facts that determine a status, and the times at which one may change. */
import type { Pool } from 'pg';

import { toColumns } from '#server/db/statement.ts';
import type { LicenseStatusFacts } from '#server/features/licenses/rules/facts.ts';
import { GRACE_DAYS } from '#server/features/licenses/rules/status.ts';

import { DAY_MS } from './test-clock.ts';

export interface GridLicense extends LicenseStatusFacts {
  readonly isTest: boolean;
}

/** In Berlin, the grace period contains the change to summer time. */
const START = new Date('2026-03-15T12:00:00Z');
const day = (days: number): Date => new Date(START.getTime() + days * DAY_MS);

/** Before every end of the grid. */
export const GRID_START = day(-1);
/** After every end of the grid. */
export const GRID_END = day(60);

const END = day(10);
const BOUNDARIES = [day(5), END, day(15), day(10 + GRACE_DAYS), day(30)];

/** The times before, at and after each boundary. */
export const MOMENTS = BOUNDARIES.flatMap((boundary) =>
  [-1, 0, 1].map((ms) => new Date(boundary.getTime() + ms)),
);

const BOOLEANS = [false, true];
const AT_ONCE = [null, GRID_START];
const ENDS = [null, day(5), day(15), day(30)];

const KINDS = combine(
  BOOLEANS.map((trial) => ({ trial })),
  BOOLEANS.map((subscription) => ({ subscription })),
);
const TERMS = combine(
  [null, END].map((expiresAt) => ({ expiresAt })),
  [null, ...BOUNDARIES].map((cancelScheduledFor) => ({ cancelScheduledFor })),
);
const SCHEDULED = combine(
  ENDS.map((pausedAt) => ({ pausedAt })),
  ENDS.map((canceledAt) => ({ canceledAt })),
);
const SUSPENDED = combine(
  AT_ONCE.map((suspendedAt) => ({ suspendedAt })),
  AT_ONCE.map((disputedAt) => ({ disputedAt })),
);
const STOPPED = combine(
  AT_ONCE.map((refundedAt) => ({ refundedAt })),
  AT_ONCE.map((revokedAt) => ({ revokedAt })),
);

/** A fifth of them is from test purchases. */
export const GRID: readonly GridLicense[] = combine(
  combine(combine(KINDS, TERMS), SCHEDULED),
  combine(SUSPENDED, STOPPED),
).map((facts, index) => ({
  ...facts,
  id: `00000000-0000-7000-8000-${index.toString(16).padStart(12, '0')}`,
  productId: 'grid',
  updatesUntil: null,
  isTest: index % 5 === 0,
}));

function combine<A, B>(first: readonly A[], second: readonly B[]): (A & B)[] {
  return first.flatMap((a) => second.map((b) => ({ ...a, ...b })));
}

/** Stores the grid. No machine of it was seen lately. */
export async function storeGrid(pool: Pool): Promise<void> {
  await pool.query(
    `insert into licenses (id, trial, subscription, expires_at, cancel_scheduled_for, paused_at, canceled_at, suspended_at,
                           disputed_at, refunded_at, revoked_at, is_test, product_id, tier, features, max_activations, key_sealed,
                           key_hint, created_at)
     select *, 'grid', 'grid', '{}', 1, '', '', '2026-01-01'
     from unnest($1::uuid[], $2::boolean[], $3::boolean[], $4::timestamptz[], $5::timestamptz[], $6::timestamptz[],
                 $7::timestamptz[], $8::timestamptz[], $9::timestamptz[], $10::timestamptz[], $11::timestamptz[], $12::boolean[])`,
    toColumns(GRID, [
      'id',
      'trial',
      'subscription',
      'expiresAt',
      'cancelScheduledFor',
      'pausedAt',
      'canceledAt',
      'suspendedAt',
      'disputedAt',
      'refundedAt',
      'revokedAt',
      'isTest',
    ]),
  );
  await pool.query(
    `insert into license_activity (license_id, active_machines, is_full, last_seen_at) select id, 0, false, '2026-01-01' from licenses`,
  );
  await pool.query('analyze licenses');
}
