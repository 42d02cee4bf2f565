/** Reports of usage for operators. */
import {
  Breakdown,
  ref,
  UsageBreakdownQuery,
  UsageQuery,
  UsageReport,
  UsageRetention,
  UsageRetentionQuery,
} from '@latchkey/contract';
import type { FastifySchema } from 'fastify';

import { csvAnswer, answerCsv } from '#server/http/admin-list.ts';
import type { App } from '#server/http/app-instance.ts';
import { VIEWER } from '#server/http/require-operator.ts';
import type { CsvColumns } from '#server/lib/csv.ts';

import { breakdownColumns } from './admin-report-csv.ts';
import type { ReportDependencies } from './reports/dependencies.ts';
import { breakDownUsage } from './reports/report-breakdown.ts';
import { reportRetention, reportUsage } from './reports/report-usage.ts';

const USAGE = '/api/v1/admin/usage';
const shared = { tags: ['admin: usage'] };

/** Every role reads them: reports contain no key and no address. */
export function registerUsageReportRoutes(app: App, deps: ReportDependencies): void {
  app.get(USAGE, { config: VIEWER, schema: usageOperation }, ({ query }) =>
    reportUsage(deps, query),
  );
  app.get(
    `${USAGE}/export`,
    { config: VIEWER, schema: usageExportOperation },
    async ({ query }, reply) => {
      const { periods } = await reportUsage(deps, query);
      return answerCsv(reply, 'usage', usageColumns, periods);
    },
  );
  app.get(`${USAGE}/breakdown`, { config: VIEWER, schema: breakdownOperation }, ({ query }) =>
    breakDownUsage(deps, query),
  );
  app.get(
    `${USAGE}/breakdown/export`,
    { config: VIEWER, schema: breakdownExportOperation },
    async ({ query }, reply) => {
      const { by = 'version' } = query;
      const { items } = await breakDownUsage(deps, query);
      return answerCsv(reply, `usage-by-${by}`, breakdownColumns(by, 'machine_days'), items);
    },
  );
  app.get(`${USAGE}/retention`, { config: VIEWER, schema: retentionOperation }, ({ query }) =>
    reportRetention(deps, query),
  );
  app.get(
    `${USAGE}/retention/export`,
    { config: VIEWER, schema: retentionExportOperation },
    async ({ query }, reply) => {
      const { cohorts } = await reportRetention(deps, query);
      return answerCsv(reply, 'retention', retentionColumns, cohorts.flatMap(listWeeks));
    },
  );
}

type Cohort = UsageRetention['cohorts'][number];

/** A week of a cohort; 0: its first one. */
function listWeeks({ week, machines, active }: Cohort) {
  return active.map((count, weeksAfter) => ({ week, machines, weeksAfter, active: count }));
}

const retentionColumns: CsvColumns<ReturnType<typeof listWeeks>[number]> = {
  first_week: (each) => each.week,
  machines: (each) => each.machines,
  weeks_after: (each) => each.weeksAfter,
  active: (each) => each.active,
};

const usageColumns: CsvColumns<UsageReport['periods'][number]> = {
  starts: (period) => period.starts,
  machines: (period) => period.machines,
  previous_starts: (period) => period.previous_starts,
  previous_machines: (period) => period.previous_machines,
};

const usageOperation = {
  ...shared,
  operationId: 'reportUsage',
  summary: 'Count active machines by day, week or month',
  querystring: UsageQuery,
  response: { 200: ref(UsageReport, 'The machines of each period, and of the periods before.') },
} satisfies FastifySchema;

const usageExportOperation = {
  ...shared,
  operationId: 'exportUsage',
  summary: 'Export active machines',
  querystring: UsageQuery,
  response: csvAnswer('One line for each period.'),
} satisfies FastifySchema;

const breakdownOperation = {
  ...shared,
  operationId: 'breakDownUsage',
  summary: 'Count machine days by version, platform or system',
  querystring: UsageBreakdownQuery,
  response: { 200: ref(Breakdown, 'The values, the largest first.') },
} satisfies FastifySchema;

const breakdownExportOperation = {
  ...shared,
  operationId: 'exportUsageBreakdown',
  summary: 'Export machine days by version, platform or system',
  querystring: UsageBreakdownQuery,
  response: csvAnswer('One line for each value.'),
} satisfies FastifySchema;

const retentionExportOperation = {
  ...shared,
  operationId: 'exportRetention',
  summary: 'Export the machines that are still active in the weeks after their first',
  querystring: UsageRetentionQuery,
  response: csvAnswer('One line for each first week and each week after it.'),
} satisfies FastifySchema;

const retentionOperation = {
  ...shared,
  operationId: 'reportRetention',
  summary: 'Count the machines that are still active in the weeks after their first',
  querystring: UsageRetentionQuery,
  response: { 200: ref(UsageRetention, 'The machines by their first week.') },
} satisfies FastifySchema;
