/** Counts payments into the roll-ups of revenue: purchases with new facts, and those from before the roll-up. */
import { isDatabaseUnavailable } from '#server/db/database-errors.ts';
import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import { countPurchases } from './count-revenue.ts';
import type { ApplyDependencies } from './dependencies.ts';
import type { LedgerReference, TransactionKey } from './queries/purchases.ts';
import {
  findRevenueBackfill,
  listPaymentsAfter,
  storeRevenueBackfill,
} from './queries/revenue-backfill.ts';
import { insertRevenueDue, postponeRevenueDue, takeRevenueDue } from './queries/revenue-due.ts';
import { clearRevenue, lockRevenue } from './queries/revenue.ts';

type RollUpDependencies = Pick<ApplyDependencies, 'pool' | 'catalog' | 'clock' | 'log'>;

/** Purchases in a transaction. */
const PAGE_SIZE = 200;

/** Payments that the backfill looks at for each of these: most are counted already, with another payment of their subscription. */
const PAYMENTS_OF_A_PURCHASE = 5;

/** After which a purchase that could not be counted is tried again: what prevents it is a bug or a wrong row, and lasts. */
const RETRY_SECONDS = 3_600;

/**
 * Counts purchases with new facts, until there are none. One that cannot be counted is logged and postponed, and delays no other.
 * @returns how many marks were taken
 */
export async function rollUpDueRevenue(
  deps: RollUpDependencies,
  signal?: AbortSignal,
): Promise<number> {
  for (let taken = 0; ;) {
    if (signal?.aborted === true) return taken;
    const count = await orSeparately(
      () => countDue(deps, PAGE_SIZE),
      () => countDueSeparately(deps, signal),
    );
    taken += count;
    if (count < PAGE_SIZE) return taken;
  }
}

/** Runs work on a page; if it fails for another reason than the database, on each purchase of the page by itself. */
async function orSeparately<Result>(
  work: () => Promise<Result>,
  separately: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw error;
    // The failure of the purchase itself is logged.
    return separately();
  }
}

/** Counts purchases with the oldest marks. @param onTaken called before they are counted @returns how many marks were taken */
async function countDue(
  deps: RollUpDependencies,
  limit: number,
  onTaken: (due: readonly LedgerReference[]) => void = () => {},
): Promise<number> {
  return inTransaction(deps.pool, async (client) => {
    await lockRevenue(client);
    const due = await takeRevenueDue(client, limit);
    onTaken(due);
    if (due.length > 0) await countPurchases(deps, client, due);
    return due.length;
  });
}

async function countDueSeparately(deps: RollUpDependencies, signal?: AbortSignal): Promise<number> {
  let taken = 0;
  while (taken < PAGE_SIZE) {
    if (signal?.aborted === true) return taken;
    let due: readonly LedgerReference[] = [];
    const onTaken = (references: readonly LedgerReference[]): void => void (due = references);
    try {
      await countDue(deps, 1, onTaken);
    } catch (error) {
      if (isDatabaseUnavailable(error) || due.length === 0) throw error;
      await postponeRevenueDue(deps.pool, due, RETRY_SECONDS);
      logFailure(deps, error, due);
    }
    if (due.length === 0) return taken;
    taken += due.length;
  }
  return taken;
}

function logFailure(
  { log }: RollUpDependencies,
  error: unknown,
  [purchase]: readonly LedgerReference[],
): void {
  log.error(
    { event: 'payments.revenue_not_counted', ...purchase, err: error },
    'could not count a purchase into revenue; it is tried again in an hour',
  );
}

/**
 * Counts the payments from before the roll-up, page by page; a call continues where the last one ended. One that cannot be counted
 * is logged, and retried as a purchase with new facts is.
 * @param maxPages default: all
 * @param pageSize purchases in a transaction
 * @param onProgress called with the number of counted payments after each page
 * @returns whether all are counted
 */
export async function backfillRevenue(
  deps: RollUpDependencies,
  {
    signal,
    maxPages = Number.POSITIVE_INFINITY,
    pageSize = PAGE_SIZE,
    onProgress,
  }: {
    readonly signal?: AbortSignal;
    readonly maxPages?: number;
    readonly pageSize?: number;
    readonly onProgress?: (counted: number) => void;
  } = {},
): Promise<boolean> {
  for (let page = 0; page < maxPages; page += 1) {
    if (signal?.aborted === true) return false;
    const state = await orSeparately(
      () => backfillPage(deps, pageSize),
      () => backfillSeparately(deps, pageSize),
    );
    onProgress?.(state.counted);
    if (state.isFinished) return true;
  }
  return false;
}

interface BackfillState {
  readonly counted: number;
  readonly isFinished: boolean;
}

/** Counts as many purchases as a page has, each in a transaction. */
async function backfillSeparately(
  deps: RollUpDependencies,
  pageSize: number,
): Promise<BackfillState> {
  let state = await backfillOne(deps);
  for (let count = 1; count < pageSize && !state.isFinished; count += 1)
    state = await backfillOne(deps);
  return state;
}

async function backfillOne(deps: RollUpDependencies): Promise<BackfillState> {
  try {
    return await backfillPage(deps, 1);
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw error;
    return backfillPage(deps, 1, async (client, due) => {
      await insertRevenueDue(client, due);
      await postponeRevenueDue(client, due, RETRY_SECONDS);
      logFailure(deps, error, due);
    });
  }
}

/** @param count default: counts the purchases */
async function backfillPage(
  deps: RollUpDependencies,
  pageSize: number,
  count = (client: Queryable, due: readonly LedgerReference[]): Promise<void> =>
    countPurchases(deps, client, due),
): Promise<BackfillState> {
  return inTransaction(deps.pool, async (client) => {
    await lockRevenue(client);
    const state = await findRevenueBackfill(client);
    if (state === null || state.finishedAt !== null) {
      return { counted: state?.counted ?? 0, isFinished: true };
    }
    const listed = await listPaymentsAfter(client, state, PAYMENTS_OF_A_PURCHASE * pageSize);
    const due = listed.filter(({ isCounted }) => !isCounted).slice(0, pageSize);
    const last = due.length < pageSize ? listed.at(-1) : due.at(-1);
    const passed = last === undefined ? 0 : listed.indexOf(last) + 1;
    if (due.length > 0) await count(client, due.map(toReference));
    const counted = state.counted + passed;
    const finishedAt = last === undefined ? deps.clock.now() : null;
    await storeRevenueBackfill(client, { ...(last ?? state), counted, finishedAt });
    return { counted, isFinished: last === undefined };
  });
}

function toReference({ provider, transactionId: id }: TransactionKey): LedgerReference {
  return { provider, kind: 'transaction', id };
}

/** Deletes the roll-up and starts to count all payments anew; {@link backfillRevenue} does it. */
export async function restartRevenue(
  { pool, clock }: Pick<RollUpDependencies, 'pool' | 'clock'>,
  { actor, reason }: { readonly actor: string; readonly reason: string },
): Promise<void> {
  await inTransaction(pool, async (client) => {
    await lockRevenue(client);
    await clearRevenue(client);
    const start = { transactionId: '', provider: '', counted: 0, finishedAt: null };
    await storeRevenueBackfill(client, start);
    await insertAuditEntry(client, {
      occurredAt: clock.now(),
      actor,
      reason,
      action: 'webhook.rebuild_revenue',
      subjectId: 'webhooks',
      details: {},
    });
  });
}
