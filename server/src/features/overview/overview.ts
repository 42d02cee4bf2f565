/** Feature: what needs an operator, and the figures of the start page. */
import { FIGURE_DAYS, type Figure, type Need, type Overview } from '@latchkey/contract';
import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import type { Config } from '#server/config/config.ts';
import type { ReportReader } from '#server/db/replica/report-reader.ts';
import { cacheBriefly } from '#server/lib/cache-briefly.ts';
import type { ConcurrencyLimiter } from '#server/lib/concurrency-limiter.ts';

import { findLastRun, isDataNewer } from '../analytics/queries/rollup-marks.ts';
import { addDays, dayOf, type Day } from '../analytics/rules/days.ts';
import { isOverdue } from '../analytics/rules/rollup-marks.ts';
import type { PaddleApi } from '../billing/providers/paddle/paddle-api.ts';
import { findReconciliation } from '../billing/queries/reconciliations.ts';
import { listEndpoints } from '../outgoing-webhooks/manage-endpoints.ts';
import { findLicenseRollup, listFigureDays } from './queries/figures.ts';
import {
  countFailedDeliveries,
  countJobs,
  countKeyEmails,
  countPastDue,
  countPaymentEvents,
  countUnmailed,
  isSigning,
  listRefusedByDay,
} from './queries/needs.ts';
import { listFigures } from './rules/figures.ts';
import { listNeeds, type OpenWork } from './rules/list-needs.ts';
import { COMPARED_DAYS, findRisingRefusals } from './rules/rising-refusals.ts';

export interface OverviewDependencies {
  readonly pool: Pool;
  /** For figures. */
  readonly reports: ReportReader;
  readonly databaseLimiter: ConcurrencyLimiter;
  readonly clock: Clock;
  readonly config: Pick<Config, 'subscribers'>;
  readonly paddleApi: PaddleApi | null;
  readonly storage: { readonly isDiskLow: () => boolean };
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** However many consoles are open, the database is read once in this time. */
const NEEDS_FRESH_MS = 10 * SECOND_MS;
const FIGURES_FRESH_MS = MINUTE_MS;

/** Permanent refusals are listed for a week. */
const REPORTED_FOR_MS = 7 * DAY_MS;

/** A running service sends an e-mail within this time. */
const SEND_TIMEOUT_MS = 15 * MINUTE_MS;

/** Creates the function that returns the overview. */
export function createOverview(deps: OverviewDependencies): () => Promise<Overview> {
  const nowMs = (): number => deps.clock.now().getTime();
  const readNeeds = cacheBriefly(nowMs, NEEDS_FRESH_MS, () =>
    deps.databaseLimiter.run(() => loadNeeds(deps)),
  );
  const readFigures = cacheBriefly(nowMs, FIGURES_FRESH_MS, () =>
    deps.databaseLimiter.run(() => loadFigures(deps)),
  );
  return async () => {
    const [needs, figures] = await Promise.all([readNeeds(), readFigures()]);
    return { needs, ...figures };
  };
}

async function loadNeeds(deps: OverviewDependencies): Promise<Need[]> {
  return listNeeds(await readOpenWork(deps));
}

/** One statement after the other: together they take a few milliseconds, and one connection is enough. */
async function readOpenWork(deps: OverviewDependencies): Promise<OpenWork> {
  const { clock, config, pool } = deps;
  const now = clock.now();
  const ago = (ms: number): Date => new Date(now.getTime() - ms);
  return {
    keyEmails: await countKeyEmails(pool, ago(REPORTED_FOR_MS), ago(SEND_TIMEOUT_MS)),
    payments: await countPaymentEvents(pool),
    deliveries: await countFailedDeliveries(pool, ago(REPORTED_FOR_MS)),
    jobs: await countJobs(pool),
    pastDue: await countPastDue(pool, now),
    unmailed: config.subscribers.doubleOptIn ? await countUnmailed(pool, ago(SEND_TIMEOUT_MS)) : [],
    endpoints: await listEndpoints(deps),
    reconciliationFailedAt: await findReconciliationFailure(deps),
    refusals: findRisingRefusals(
      await listRefusedByDay(pool, addDays(dayOf(now), -COMPARED_DAYS)),
      dayOf(now),
    ),
    isSigning: await isSigning(pool, now),
    rollupsOutdatedSince: await findOutdatedRollups(pool, now),
    isDiskLow: deps.storage.isDiskLow(),
  };
}

/** Without an API key nothing is compared any more, and the last result does not matter. */
async function findReconciliationFailure(deps: OverviewDependencies): Promise<Date | null> {
  if (deps.paddleApi === null) return null;
  return (await findReconciliation(deps.pool, 'paddle'))?.failedAt ?? null;
}

async function findOutdatedRollups(pool: Pool, now: Date): Promise<Date | 'never' | null> {
  const last = await findLastRun(pool);
  if (last !== null && !isOverdue(last, now)) return null;
  if (!(await isDataNewer(pool, last?.finishedAt ?? new Date(0)))) return null;
  return last?.finishedAt ?? 'never';
}

interface Figures {
  readonly figures: Figure[];
  readonly first_day: Day;
  readonly rolled_at: string | null;
}

async function loadFigures({ clock, reports }: OverviewDependencies): Promise<Figures> {
  const today = dayOf(clock.now());
  const [days, rolledAt] = await reports.read(async (db) => [
    await listFigureDays(db, addDays(today, 1 - 2 * FIGURE_DAYS), today),
    await findLicenseRollup(db),
  ]);
  return {
    figures: listFigures(days),
    first_day: addDays(today, 1 - FIGURE_DAYS),
    rolled_at: rolledAt?.toISOString() ?? null,
  };
}
