import {
  AdminTrials,
  ref,
  TrialQuery,
  TrialReport,
  TrialReportQuery,
  TrialRowsQuery,
} from '@latchkey/contract';
import type { FastifySchema } from 'fastify';

import {
  answerPage,
  csvAnswer,
  readOrder,
  readPageRequest,
  answerCsv,
} from '#server/http/admin-list.ts';
import type { App } from '#server/http/app-instance.ts';
import { VIEWER, VIEWER_FRESH, operatorOf } from '#server/http/require-operator.ts';
import type { CsvColumns } from '#server/lib/csv.ts';

import {
  exportTrials,
  listTrialPage,
  trialState,
  viewTrial,
  type TrialListDependencies,
} from './list-trials.ts';
import { reportTrials, type TrialReportDependencies } from './report-trials.ts';

const PATH = '/api/v1/admin/trials';
const TAGS = ['admin: trials'];

/** Also the first of the sorts in the contract. */
const NEWEST = '-created_at';

/** Registers the operations on trials for operators. Every role exports them: rows contain no address. */
export function registerAdminTrialRoutes(
  app: App,
  deps: TrialListDependencies & TrialReportDependencies,
): void {
  app.get(PATH, { config: VIEWER, schema: listOperation }, ({ query }) => {
    const now = deps.clock.now();
    return answerPage(
      readPageRequest(query, NEWEST),
      (page) => listTrialPage(deps, query, page),
      (trial) => viewTrial(trial, now),
    );
  });
  app.get(
    `${PATH}/export`,
    { config: VIEWER_FRESH, schema: exportOperation },
    async (request, reply) => {
      const { query } = request;
      const { actor } = operatorOf(request);
      const rows = await exportTrials(deps, query, readOrder(query, NEWEST), actor);
      return answerCsv(reply, 'trials', columnsAt(deps.clock.now()), rows);
    },
  );
  app.get(`${PATH}/report`, { config: VIEWER, schema: reportOperation }, ({ query }) =>
    reportTrials(deps, query),
  );
  app.get(
    `${PATH}/report/export`,
    { config: VIEWER, schema: reportExportOperation },
    async ({ query }, reply) => {
      const { weeks } = await reportTrials(deps, query);
      return answerCsv(reply, 'conversion', WEEK_COLUMNS, weeks);
    },
  );
}

const WEEK_COLUMNS: CsvColumns<TrialReport['weeks'][number]> = {
  week: (each) => each.week,
  trials: (each) => each.trials,
  converted: (each) => each.converted,
  share: (each) => each.share,
  open: (each) => each.open,
};

type Row = Parameters<typeof viewTrial>[0];

function columnsAt(now: Date): CsvColumns<Row> {
  return {
    id: (trial) => trial.id,
    product_id: (trial) => trial.productId,
    key_hint: (trial) => trial.keyHint,
    state: (trial) => trialState(trial, now),
    created_at: (trial) => trial.createdAt,
    expires_at: (trial) => trial.expiresAt,
    machine_id: (trial) => trial.machine?.machine_id ?? null,
    os_version: (trial) => trial.machine?.os_version ?? null,
    app_version: (trial) => trial.machine?.app_version ?? null,
    last_seen_at: (trial) => trial.machine?.last_seen_at ?? null,
    converted_at: (trial) => trial.convertedAt,
    converted_license_id: (trial) => trial.convertedLicenseId,
    converted_product_id: (trial) => trial.convertedProductId,
  };
}

const listOperation = {
  operationId: 'listTrials',
  tags: TAGS,
  summary: 'List trials',
  querystring: TrialQuery,
  response: { 200: ref(AdminTrials, 'One page.') },
} satisfies FastifySchema;

const exportOperation = {
  operationId: 'exportTrials',
  tags: TAGS,
  summary: 'Export trials as CSV',
  description: 'The audit log records each export.',
  querystring: TrialRowsQuery,
  response: csvAnswer('All trials of the filter.'),
} satisfies FastifySchema;

const reportOperation = {
  operationId: 'reportTrials',
  tags: TAGS,
  summary: 'Report the conversion of trials by week and by product',
  description: 'From roll-ups, which are updated every hour.',
  querystring: TrialReportQuery,
  response: { 200: ref(TrialReport, 'The counts.') },
} satisfies FastifySchema;

const reportExportOperation = {
  operationId: 'exportTrialReport',
  tags: TAGS,
  summary: 'Export the conversion of trials by week as CSV',
  querystring: TrialReportQuery,
  response: csvAnswer('One line for each week with trials.'),
} satisfies FastifySchema;
