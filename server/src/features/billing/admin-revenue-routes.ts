/** Revenue for operators. */
import { hash } from 'node:crypto';

import {
  exportRevenue as exportOperation,
  showRevenue,
  type Revenue,
  type RevenueQuery,
} from '@latchkey/contract';

import { answerCsv, readCursor, writeCursor } from '#server/http/admin-list.ts';
import type { App } from '#server/http/app-instance.ts';
import { serveOperation } from '#server/http/serve-operation.ts';

import type { BillingDependencies } from './dependencies.ts';
import { exportRevenue, reportRevenue } from './report-revenue.ts';
import { REVENUE_COLUMNS } from './revenue-columns.ts';

export function registerRevenueRoutes(app: App, deps: BillingDependencies): void {
  serveOperation(app, showRevenue, ({ query }) => showPage(deps, query));
  serveOperation(app, exportOperation, ({ query }, reply) =>
    answerCsv(reply, 'revenue', REVENUE_COLUMNS, exportRevenue(deps, query)),
  );
}

async function showPage(
  deps: BillingDependencies,
  { cursor, ...query }: RevenueQuery,
): Promise<Revenue> {
  // A position is one of the same report.
  const order = { sort: hash('sha256', JSON.stringify(query), 'base64url'), descending: false };
  const after = cursor === undefined ? null : readCursor(cursor, order).value;
  const { next, ...report } = await reportRevenue(deps, query, after);
  return { ...report, next_cursor: next && writeCursor(order, { value: next, id: '' }) };
}
