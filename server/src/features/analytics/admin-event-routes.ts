/** Reports of events for operators, and single stored events. */
import {
  Breakdown,
  EventBreakdownQuery,
  EventDays,
  EventDaysQuery,
  EventDrops,
  EventDropsQuery,
  EventNamesQuery,
  ref,
  StoredEvent,
  StoredEventPath,
} from '@latchkey/contract';
import type { FastifySchema } from 'fastify';

import { csvAnswer, answerCsv } from '#server/http/admin-list.ts';
import type { App } from '#server/http/app-instance.ts';
import { VIEWER } from '#server/http/require-operator.ts';
import type { CsvColumns } from '#server/lib/csv.ts';

import { breakdownColumns } from './admin-report-csv.ts';
import type { ReportDependencies } from './reports/dependencies.ts';
import { breakDownEvent, breakDownEvents } from './reports/report-breakdown.ts';
import { reportDrops, reportEventDays, showEvent } from './reports/report-events.ts';

const EVENTS = '/api/v1/admin/events';
const shared = { tags: ['admin: events'] };

/** Every role reads them: reports contain no key and no address. */
export function registerEventReportRoutes(app: App, deps: ReportDependencies): void {
  app.get(EVENTS, { config: VIEWER, schema: namesOperation }, ({ query }) =>
    breakDownEvents(deps, query),
  );
  app.get(`${EVENTS}/days`, { config: VIEWER, schema: daysOperation }, ({ query }) =>
    reportEventDays(deps, query),
  );
  app.get(`${EVENTS}/breakdown`, { config: VIEWER, schema: breakdownOperation }, ({ query }) =>
    breakDownEvent(deps, query),
  );
  app.get(`${EVENTS}/drops`, { config: VIEWER, schema: dropsOperation }, ({ query }) =>
    reportDrops(deps, query),
  );
  app.get(`${EVENTS}/stored/:event_id`, { config: VIEWER, schema: eventOperation }, ({ params }) =>
    showEvent(deps, params.event_id),
  );
  registerExports(app, deps);
}

function registerExports(app: App, deps: ReportDependencies): void {
  app.get(
    `${EVENTS}/export`,
    { config: VIEWER, schema: namesExportOperation },
    async ({ query }, reply) => {
      const { items } = await breakDownEvents(deps, query);
      return answerCsv(reply, 'events', breakdownColumns('name', 'events'), items);
    },
  );
  app.get(
    `${EVENTS}/days/export`,
    { config: VIEWER, schema: daysExportOperation },
    async ({ query }, reply) => {
      const { days } = await reportEventDays(deps, query);
      return answerCsv(reply, 'event-by-day', dayColumns, days);
    },
  );
  app.get(
    `${EVENTS}/breakdown/export`,
    { config: VIEWER, schema: breakdownExportOperation },
    async ({ query }, reply) => {
      const { by = 'version' } = query;
      const { items } = await breakDownEvent(deps, query);
      return answerCsv(reply, `event-by-${by}`, breakdownColumns(by, 'events'), items);
    },
  );
  app.get(
    `${EVENTS}/drops/export`,
    { config: VIEWER, schema: dropsExportOperation },
    async ({ query }, reply) => {
      const { items } = await reportDrops(deps, query);
      return answerCsv(reply, 'dropped-events', dropColumns, items);
    },
  );
}

const dropColumns: CsvColumns<EventDrops['items'][number]> = {
  reason: (each) => each.reason,
  events: (each) => each.events,
  previous_events: (each) => each.previous_events,
  last_day: (each) => each.last_day,
};

const dayColumns: CsvColumns<EventDays['days'][number]> = {
  day: (each) => each.day,
  events: (each) => each.events,
  installs: (each) => each.installs,
  previous_day: (each) => each.previous_day,
  previous_events: (each) => each.previous_events,
};

const namesOperation = {
  ...shared,
  operationId: 'reportEvents',
  summary: 'Count events by name',
  querystring: EventNamesQuery,
  response: { 200: ref(Breakdown, 'The events, the most frequent first.') },
} satisfies FastifySchema;

const namesExportOperation = {
  ...shared,
  operationId: 'exportEvents',
  summary: 'Export the counts of events by name',
  querystring: EventNamesQuery,
  response: csvAnswer('One line for each event.'),
} satisfies FastifySchema;

const daysOperation = {
  ...shared,
  operationId: 'reportEventDays',
  summary: 'Count an event on each day',
  querystring: EventDaysQuery,
  response: { 200: ref(EventDays, 'The event on each day, and on the days before.') },
} satisfies FastifySchema;

const daysExportOperation = {
  ...shared,
  operationId: 'exportEventDays',
  summary: 'Export the counts of an event on each day',
  querystring: EventDaysQuery,
  response: csvAnswer('One line for each day.'),
} satisfies FastifySchema;

const breakdownOperation = {
  ...shared,
  operationId: 'breakDownEvent',
  summary: 'Count an event by version, property, or value of a property',
  querystring: EventBreakdownQuery,
  response: { 200: ref(Breakdown, 'The values, the most frequent first.') },
} satisfies FastifySchema;

const breakdownExportOperation = {
  ...shared,
  operationId: 'exportEventBreakdown',
  summary: 'Export the counts of an event by version, property, or value of a property',
  querystring: EventBreakdownQuery,
  response: csvAnswer('One line for each value.'),
} satisfies FastifySchema;

const dropsOperation = {
  ...shared,
  operationId: 'reportEventDrops',
  summary: 'Count the events that were not stored, by reason',
  querystring: EventDropsQuery,
  response: { 200: ref(EventDrops, 'The reasons, the most frequent first.') },
} satisfies FastifySchema;

const dropsExportOperation = {
  ...shared,
  operationId: 'exportEventDrops',
  summary: 'Export the counts of events that were not stored, by reason',
  querystring: EventDropsQuery,
  response: csvAnswer('One line for each reason.'),
} satisfies FastifySchema;

const eventOperation = {
  ...shared,
  operationId: 'showEvent',
  summary: 'Show a stored event',
  params: StoredEventPath,
  problems: ['not_found'],
  response: { 200: ref(StoredEvent, 'The event.') },
} satisfies FastifySchema;
