import { exportTrialReport, reportTrials, trials, type TrialReport } from '@latchkey/contract';

import { answerCsv } from '#server/http/admin-list.ts';
import type { App } from '#server/http/app-instance.ts';
import { serveOperation } from '#server/http/serve-operation.ts';
import type { CsvColumns } from '#server/lib/csv.ts';

import { serveList, type ListDependencies } from '../lists/serve-list.ts';
import { trialSource } from './list-trials.ts';
import { countTrials, type TrialReportDependencies } from './report-trials.ts';

/** Registers the operations on trials for operators. */
export function registerAdminTrialRoutes(
  app: App,
  deps: ListDependencies & TrialReportDependencies,
): void {
  serveList(app, deps, trials, trialSource(deps));
  serveOperation(app, reportTrials, ({ query }) => countTrials(deps, query));
  serveOperation(app, exportTrialReport, async ({ query }, reply) => {
    const { weeks } = await countTrials(deps, query);
    return answerCsv(reply, 'conversion', WEEK_COLUMNS, weeks);
  });
}

const WEEK_COLUMNS: CsvColumns<TrialReport['weeks'][number]> = {
  week: (each) => each.week,
  trials: (each) => each.trials,
  converted: (each) => each.converted,
  share: (each) => each.share,
  open: (each) => each.open,
};
