/** Reports of usage for operators: every role reads them, because they contain no key and no address. */
import {
  breakDownUsage,
  exportRetention,
  exportUsage,
  exportUsageBreakdown,
  reportRetention,
  reportUsage,
  type UsageReport,
  type UsageRetention,
} from '@latchkey/contract';

import { answerCsv } from '#server/http/admin-list.ts';
import type { App } from '#server/http/app-instance.ts';
import { serveOperation } from '#server/http/serve-operation.ts';
import type { CsvColumns } from '#server/lib/csv.ts';

import { breakdownColumns } from './admin-report-csv.ts';
import type { ReportDependencies } from './reports/dependencies.ts';
import * as breakdowns from './reports/report-breakdown.ts';
import * as usage from './reports/report-usage.ts';

export function registerUsageReportRoutes(app: App, deps: ReportDependencies): void {
  serveOperation(app, reportUsage, ({ query }) => usage.reportUsage(deps, query));
  serveOperation(app, exportUsage, async ({ query }, reply) => {
    const { periods } = await usage.reportUsage(deps, query);
    return answerCsv(reply, 'usage', PERIOD_COLUMNS, periods);
  });
  serveOperation(app, breakDownUsage, ({ query }) => breakdowns.breakDownUsage(deps, query));
  serveOperation(app, exportUsageBreakdown, async ({ query }, reply) => {
    const { by = 'version' } = query;
    const { items } = await breakdowns.breakDownUsage(deps, query);
    return answerCsv(reply, `usage-by-${by}`, breakdownColumns(by, 'machine_days'), items);
  });
  serveOperation(app, reportRetention, ({ query }) => usage.reportRetention(deps, query));
  serveOperation(app, exportRetention, async ({ query }, reply) => {
    const { cohorts } = await usage.reportRetention(deps, query);
    return answerCsv(reply, 'retention', RETENTION_COLUMNS, cohorts.flatMap(listWeeks));
  });
}

type Cohort = UsageRetention['cohorts'][number];

/** A week of a cohort; 0: its first one. */
function listWeeks({ week, machines, active }: Cohort) {
  return active.map((count, weeksAfter) => ({ week, machines, weeksAfter, active: count }));
}

const RETENTION_COLUMNS: CsvColumns<ReturnType<typeof listWeeks>[number]> = {
  first_week: (each) => each.week,
  machines: (each) => each.machines,
  weeks_after: (each) => each.weeksAfter,
  active: (each) => each.active,
};

const PERIOD_COLUMNS: CsvColumns<UsageReport['periods'][number]> = {
  starts: (period) => period.starts,
  machines: (period) => period.machines,
  previous_starts: (period) => period.previous_starts,
  previous_machines: (period) => period.previous_machines,
};
