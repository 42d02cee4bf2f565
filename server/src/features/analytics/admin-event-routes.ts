/** Reports of events for operators, and single stored events: every role reads them, because they contain no key and no address. */
import {
  breakDownEvent,
  exportEventBreakdown,
  exportEventDays,
  exportEventDrops,
  exportEvents,
  reportEventDays,
  reportEventDrops,
  reportEvents,
  showEvent,
  type EventDays,
  type EventDrops,
} from '@latchkey/contract';

import { answerCsv } from '#server/http/admin-list.ts';
import type { App } from '#server/http/app-instance.ts';
import { serveOperation } from '#server/http/serve-operation.ts';
import type { CsvColumns } from '#server/lib/csv.ts';

import { breakdownColumns } from './admin-report-csv.ts';
import type { ReportDependencies } from './reports/dependencies.ts';
import * as breakdowns from './reports/report-breakdown.ts';
import * as events from './reports/report-events.ts';

export function registerEventReportRoutes(app: App, deps: ReportDependencies): void {
  serveOperation(app, reportEvents, ({ query }) => breakdowns.breakDownEvents(deps, query));
  serveOperation(app, reportEventDays, ({ query }) => events.reportEventDays(deps, query));
  serveOperation(app, breakDownEvent, ({ query }) => breakdowns.breakDownEvent(deps, query));
  serveOperation(app, reportEventDrops, ({ query }) => events.reportDrops(deps, query));
  serveOperation(app, showEvent, ({ params }) => events.showEvent(deps, params.event_id));
  serveExports(app, deps);
}

function serveExports(app: App, deps: ReportDependencies): void {
  serveOperation(app, exportEvents, async ({ query }, reply) => {
    const { items } = await breakdowns.breakDownEvents(deps, query);
    return answerCsv(reply, 'events', breakdownColumns('name', 'events'), items);
  });
  serveOperation(app, exportEventDays, async ({ query }, reply) => {
    const { days } = await events.reportEventDays(deps, query);
    return answerCsv(reply, 'event-by-day', DAY_COLUMNS, days);
  });
  serveOperation(app, exportEventBreakdown, async ({ query }, reply) => {
    const { by = 'version' } = query;
    const { items } = await breakdowns.breakDownEvent(deps, query);
    return answerCsv(reply, `event-by-${by}`, breakdownColumns(by, 'events'), items);
  });
  serveOperation(app, exportEventDrops, async ({ query }, reply) => {
    const { items } = await events.reportDrops(deps, query);
    return answerCsv(reply, 'dropped-events', DROP_COLUMNS, items);
  });
}

const DROP_COLUMNS: CsvColumns<EventDrops['items'][number]> = {
  reason: (each) => each.reason,
  events: (each) => each.events,
  previous_events: (each) => each.previous_events,
  last_day: (each) => each.last_day,
};

const DAY_COLUMNS: CsvColumns<EventDays['days'][number]> = {
  day: (each) => each.day,
  events: (each) => each.events,
  installs: (each) => each.installs,
  previous_day: (each) => each.previous_day,
  previous_events: (each) => each.previous_events,
};
