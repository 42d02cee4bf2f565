/** Revenue for operators. */
import { hash } from 'node:crypto';

import { ref, Revenue, RevenueExportQuery, RevenueQuery } from '@latchkey/contract';
import type { FastifySchema } from 'fastify';

import { answerCsv, csvAnswer, readCursor, writeCursor } from '#server/http/admin-list.ts';
import type { App } from '#server/http/app-instance.ts';
import { VIEWER } from '#server/http/require-operator.ts';

import type { BillingDependencies } from './dependencies.ts';
import { exportRevenue, reportRevenue } from './report-revenue.ts';
import { REVENUE_COLUMNS } from './revenue-columns.ts';

const PATH = '/api/v1/admin/revenue';
const TAGS = ['admin: payments'];

export function registerRevenueRoutes(app: App, deps: BillingDependencies): void {
  app.get(PATH, { config: VIEWER, schema: showOperation }, ({ query }) => showPage(deps, query));
  app.get(`${PATH}/export`, { config: VIEWER, schema: exportOperation }, (request, reply) =>
    answerCsv(reply, 'revenue', REVENUE_COLUMNS, exportRevenue(deps, request.query)),
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

const showOperation = {
  operationId: 'showRevenue',
  tags: TAGS,
  summary: 'Show revenue by month, product, country or provider',
  description:
    'Currencies are never added without a rate. Test modes are not counted. A page has at most 1,000 rows, by their names, and may have fewer: continue until `next_cursor` is null.',
  querystring: RevenueQuery,
  response: { 200: ref(Revenue, 'The revenue, a row for each group and currency.') },
} satisfies FastifySchema;

const exportOperation = {
  operationId: 'exportRevenue',
  tags: TAGS,
  summary: 'Export revenue as CSV',
  querystring: RevenueExportQuery,
  response: csvAnswer('One line for each row, amounts as decimal numbers.'),
} satisfies FastifySchema;
