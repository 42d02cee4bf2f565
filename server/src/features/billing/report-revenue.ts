import type { Revenue, RevenueExportQuery, RevenueRow } from '@latchkey/contract';
import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import type { PageReader } from '#server/db/list.ts';

import { findRevenueBackfill } from './queries/revenue-backfill.ts';
import { summarizeRevenueDue } from './queries/revenue-due.ts';
import { findMonthOfSums, findRevenueDensity, listRevenueSums } from './queries/revenue-report.ts';
import { checkPosition, readRevenueQuery, type RevenueRequest } from './read-revenue-query.ts';
import { monthAfter, nameRow, summarizeRevenue } from './rules/revenue/summarize-revenue.ts';

interface ReportDependencies {
  readonly pool: Pool;
  readonly clock: Clock;
}

const MAX_PENDING = 1_000;

/** Rows of an answer. A report by all dimensions has some thousand for each month. */
const PAGE_ROWS = 1_000;

const EXPORT_PAGE_ROWS = 4_000;

/** A page of a report. */
export interface RevenueReport extends Omit<Revenue, 'next_cursor'> {
  /** The `after` of the next page; null on the last page. */
  readonly next: string | null;
}

/**
 * Reports revenue from the roll-ups.
 * @param after the `next` of the page before; null: the first page
 * @throws invalidRequest (422) for an unknown dimension, a reversed range, a wrong rate or position
 */
export async function reportRevenue(
  { pool, clock }: ReportDependencies,
  query: RevenueExportQuery,
  after: string | null = null,
): Promise<RevenueReport> {
  const request = readRevenueQuery(query, clock);
  checkPosition(request, after);
  const { rows, next } = await readPage(pool, request, after, PAGE_ROWS);
  const backfill = await findRevenueBackfill(pool);
  const { pending } = await summarizeRevenueDue(pool, MAX_PENDING);
  const counted = backfill === null || backfill.finishedAt !== null ? null : backfill.counted;
  return { rows, next, pending, backfill: counted };
}

/**
 * Exports all rows of a report, page by page, each in a slot.
 * @throws as {@link reportRevenue}, before the first row
 */
export function exportRevenue(
  { clock, ...deps }: ReportDependencies & PageReader,
  query: RevenueExportQuery,
): AsyncGenerator<RevenueRow> {
  return readPages(deps, readRevenueQuery(query, clock));
}

async function* readPages(
  { pool, databaseLimiter }: PageReader,
  request: RevenueRequest,
): AsyncGenerator<RevenueRow> {
  for (let after: string | null = ''; after !== null;) {
    const position: string = after;
    const page = await databaseLimiter.run(() =>
      readPage(pool, request, position, EXPORT_PAGE_ROWS),
    );
    yield* page.rows;
    after = page.next;
  }
}

interface Page {
  readonly rows: RevenueRow[];
  readonly next: string | null;
}

/**
 * Reads rows in the order of their names. A page reads a limited number of months, so that its time does not depend on the
 * length of the report; it may have fewer rows than the limit.
 */
async function readPage(
  pool: Pool,
  request: RevenueRequest,
  after: string | null,
  limit: number,
): Promise<Page> {
  const { by, conversion, today } = request;
  const { from, to } = by.has('month') ? await findMonths(pool, request, after, limit) : request;
  const sums = await listRevenueSums(pool, { by, from, until: to, today });
  const all = summarizeRevenue(sums, { by, from, to, conversion });
  const rest = after === null ? all : all.filter((row) => nameRow(row) > after);
  const rows = rest.slice(0, limit);
  const last = rows.at(-1);
  if (rest.length > limit && last !== undefined) return { rows, next: nameRow(last) };
  return { rows, next: to < request.to ? monthAfter(to) : null };
}

/** Finds the months of a page: those whose sums are about as many rows as the limit. */
async function findMonths(
  pool: Pool,
  { by, from, to }: RevenueRequest,
  after: string | null,
  limit: number,
): Promise<{ readonly from: string; readonly to: string }> {
  const { first, sums, groups } = await findRevenueDensity(pool, by, to);
  const starts = [from, first ?? to, after?.slice(0, from.length) ?? ''];
  const start = starts.reduce((a, b) => (a > b ? a : b));
  if (start >= to) return { from: to, to };
  const size = Math.ceil((limit * sums) / Math.max(groups, 1));
  const last = await findMonthOfSums(pool, { by, from: start, until: to }, size);
  return { from: start, to: last ?? to };
}
