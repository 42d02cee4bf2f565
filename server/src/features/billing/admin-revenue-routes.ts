/** Revenue for operators. */
import { ref, Revenue, RevenueQuery } from '@latchkey/contract';
import type { FastifySchema } from 'fastify';

import { answerCsv, csvAnswer } from '#server/http/admin-list.ts';
import type { App } from '#server/http/app-instance.ts';
import { VIEWER } from '#server/http/require-operator.ts';

import type { BillingDependencies } from './dependencies.ts';
import { reportRevenue } from './report-revenue.ts';
import { REVENUE_COLUMNS } from './revenue-columns.ts';

const PATH = '/api/v1/admin/revenue';
const TAGS = ['admin: payments'];

export function registerRevenueRoutes(app: App, deps: BillingDependencies): void {
  app.get(PATH, { config: VIEWER, schema: showOperation }, ({ query }) =>
    reportRevenue(deps, query),
  );
  app.get(`${PATH}/export`, { config: VIEWER, schema: exportOperation }, async (request, reply) => {
    const { rows } = await reportRevenue(deps, request.query);
    return answerCsv(reply, 'revenue', REVENUE_COLUMNS, rows);
  });
}

const showOperation = {
  operationId: 'showRevenue',
  tags: TAGS,
  summary: 'Show revenue by month, product, country or provider',
  description: 'Currencies are never added without a rate. Test modes are not counted.',
  querystring: RevenueQuery,
  response: { 200: ref(Revenue, 'The revenue, a row for each group and currency.') },
} satisfies FastifySchema;

const exportOperation = {
  operationId: 'exportRevenue',
  tags: TAGS,
  summary: 'Export revenue as CSV',
  querystring: RevenueQuery,
  response: csvAnswer('One line for each row, amounts as decimal numbers.'),
} satisfies FastifySchema;
