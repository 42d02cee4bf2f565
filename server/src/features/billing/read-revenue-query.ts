import {
  REVENUE_DIMENSIONS,
  type RevenueDimension,
  type RevenueExportQuery,
} from '@latchkey/contract';

import type { Clock } from '#server/clock.ts';
import { invalidRequest } from '#server/errors.ts';

import type { Conversion, RevenueGrouping } from './rules/revenue/summarize-revenue.ts';

/** What a report of revenue contains; its last month is not after the current one. */
export interface RevenueRequest extends RevenueGrouping {
  /** In UTC, such as `2027-03-09`. */
  readonly today: string;
}

/** Reads a query. @throws invalidRequest (422) for an unknown dimension, a reversed range or a wrong rate */
export function readRevenueQuery(query: RevenueExportQuery, clock: Clock): RevenueRequest {
  for (const field of ['from', 'to'] as const) {
    if (!MONTH.test(query[field] ?? '2027-03'))
      throw refuse(field, 'Input should be a month such as 2027-03');
  }
  const today = clock.now().toISOString().slice(0, 10);
  const current = today.slice(0, 7);
  const wanted = query.to ?? current;
  const to = wanted < current ? wanted : current;
  const from = query.from ?? monthsBefore(to, 11);
  if (from > wanted) throw refuse('from', 'The first month is after the last one');
  const by = readDimensions(query.by ?? 'month');
  return { by, from, to, today, conversion: readConversion(query) };
}

const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])$/;
/** @param after null: the first page. @throws invalidRequest (422) if a report by month cannot continue there */
export function checkPosition({ by }: RevenueRequest, after: string | null): void {
  if (after === null || !by.has('month') || MONTH.test(after.slice(0, 7))) return;
  throw refuse('cursor', 'The cursor is not one of this report');
}

const CURRENCY = /^[A-Z]{3}$/;

function monthsBefore(month: string, count: number): string {
  const time = new Date(`${month}-01T00:00:00Z`);
  time.setUTCMonth(time.getUTCMonth() - count);
  return time.toISOString().slice(0, 7);
}

function readDimensions(text: string): ReadonlySet<RevenueDimension> {
  const names = text.split(',').map((name) => name.trim());
  const dimensions = names.map((name) => REVENUE_DIMENSIONS.find((known) => known === name));
  const known = dimensions.filter((each) => each !== undefined);
  if (known.length < names.length) {
    throw refuse('by', `Input should be some of ${REVENUE_DIMENSIONS.join(', ')}`);
  }
  return new Set(known);
}

/** Rates are decimal numbers above 0. */
const RATE = /^[A-Z]{3}:\d{1,12}(?:\.\d{1,12})?$/;

function readConversion({ currency, rates }: RevenueExportQuery): Conversion | null {
  if (currency === undefined) {
    if (rates === undefined) return null;
    throw refuse('currency', 'Rates need the currency to which they convert');
  }
  if (!CURRENCY.test(currency)) throw refuse('currency', 'Input should be a code such as EUR');
  const parts = rates === undefined || rates === '' ? [] : rates.split(',');
  const pairs = parts.map((part) => {
    const text = part.trim();
    const rate = RATE.test(text) ? Number(text.slice(4)) : 0;
    if (rate <= 0) throw refuse('rates', 'Input should be rates such as USD:0.92,GBP:1.17');
    return [text.slice(0, 3), rate] as const;
  });
  return { currency, rates: new Map([...pairs, [currency, 1]]) };
}

function refuse(field: string, msg: string) {
  return invalidRequest([{ loc: ['query', field], msg, type: 'value_error' }]);
}
