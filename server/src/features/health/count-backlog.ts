import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import type { Catalog } from '#server/config/catalog.ts';
import type { BackgroundTask } from '#server/jobs/background-task.ts';
import { countJobs, type JobNumbers } from '#server/jobs/queries.ts';

import { countRefusedKeyEmails } from '../key-emails/backlog-queries.ts';
import type { GumroadApi } from '../billing/providers/gumroad/gumroad-api.ts';
import type { PaddleApi } from '../billing/providers/paddle/paddle-api.ts';
import { countUnappliedEvents, type UnappliedEvents } from '../billing/queries/events.ts';
import { findReconciliation } from '../billing/queries/reconciliations.ts';
import { countRemainingPayments } from '../billing/queries/revenue-backfill.ts';
import { summarizeRevenueDue } from '../billing/queries/revenue-due.ts';
import { countFreeKeys } from '../licenses/view-key-pools.ts';
import {
  countDeliveriesFailedSince,
  countFailedEndpoints,
} from '../outgoing-webhooks/queries/delivery-log.ts';

/** Pending and failed work, some of which needs an operator. */
export interface Backlog {
  readonly jobs: JobNumbers;
  /** Events of payment providers. */
  readonly events: UnappliedEvents;
  /** Whether the last attempt to read the log of Paddle or the sales of Gumroad failed. */
  readonly isReconciliationFailing: boolean;
  readonly undelivered: UndeliveredNumbers;
  /** By product whose licenses take keys of a pool. */
  readonly freePoolKeys: Readonly<Record<string, number>>;
  readonly revenue: UncountedRevenue;
}

/** Payments that are not in the reports of revenue yet. */
export interface UncountedRevenue {
  /** Reports of payments, refunds and subscriptions. */
  readonly reports: number;
  /** Since when the oldest of these waits; 0 without one. */
  readonly delaySeconds: number;
  /** Payments from before the roll-up, or of a roll-up that is computed anew. */
  readonly backfill: number;
}

/** E-mails and deliveries that did not reach their recipients. */
export interface UndeliveredNumbers {
  /** E-mails with keys that the relay rejected for good in the last week, or neither accepted nor rejected. */
  readonly keyEmails: number;
  /** Deliveries to endpoints that failed for good in the last week. */
  readonly deliveries: number;
  /** Endpoints that were disabled because they failed. */
  readonly endpoints: number;
}

interface BacklogDependencies {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly paddleApi: PaddleApi | null;
  readonly gumroadApi: GumroadApi | null;
  readonly catalog: () => Pick<Catalog, 'products'>;
}

/** An address that does not exist is rejected for good: it is reported for a week. */
const REPORTED_FOR_MS = 7 * 24 * 60 * 60_000;

/** A higher number would not be more useful. */
const MAX_COUNTED = 1_000;

/** Counted for some milliseconds each minute, only until the backfill ends. */
const MAX_BACKFILL = 100_000;

/** Counts each part by an index that contains nothing else. */
export async function countBacklog(deps: BacklogDependencies): Promise<Backlog> {
  const { pool } = deps;
  return {
    jobs: await countJobs(pool),
    events: await countUnappliedEvents(pool),
    isReconciliationFailing: await isReconciliationFailing(deps),
    undelivered: await countUndelivered(deps),
    freePoolKeys: await countFreeKeys(pool, deps.catalog()),
    revenue: await countUncountedRevenue(pool),
  };
}

async function countUncountedRevenue(pool: Pool): Promise<UncountedRevenue> {
  const { pending, delaySeconds } = await summarizeRevenueDue(pool, MAX_COUNTED);
  return {
    reports: pending,
    delaySeconds,
    backfill: await countRemainingPayments(pool, MAX_BACKFILL),
  };
}

async function countUndelivered({ clock, pool }: BacklogDependencies): Promise<UndeliveredNumbers> {
  const since = new Date(clock.now().getTime() - REPORTED_FOR_MS);
  return {
    keyEmails: await countRefusedKeyEmails(pool, since, MAX_COUNTED),
    deliveries: await countDeliveriesFailedSince(pool, since, MAX_COUNTED),
    endpoints: await countFailedEndpoints(pool),
  };
}

/** Without an API key nothing is compared any more, and the last result does not matter. */
async function isReconciliationFailing({
  gumroadApi,
  paddleApi,
  pool,
}: BacklogDependencies): Promise<boolean> {
  const isFailing = async (provider: string, api: object | null): Promise<boolean> =>
    api !== null && (await findReconciliation(pool, provider))?.failedAt != null;
  return (await isFailing('paddle', paddleApi)) || isFailing('gumroad', gumroadApi);
}

const COUNT_INTERVAL_MS = 60_000;

/** The backlog as this process counted it last, at most a minute old while the database responds. */
export class BacklogCounter {
  readonly #deps: BacklogDependencies;
  #last: Backlog | null = null;

  constructor(deps: BacklogDependencies) {
    this.#deps = deps;
  }

  /** Null before the first count. */
  get last(): Backlog | null {
    return this.#last;
  }

  readonly task: BackgroundTask = {
    name: 'backlog',
    scope: 'process',
    firstRunMs: 1_000,
    intervalMs: COUNT_INTERVAL_MS,
    event: 'backlog.count',
    action: 'count the backlog',
    run: async () => {
      this.#last = await countBacklog(this.#deps);
    },
  };

  async read(): Promise<Backlog> {
    return this.#last ?? countBacklog(this.#deps);
  }
}
