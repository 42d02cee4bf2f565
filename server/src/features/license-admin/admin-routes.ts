import {
  AdminLicenseExportQuery,
  AdminLicenseQuery,
  AdminLicenses,
  exportLicenseTimeline,
  type LicenseTimelineItem,
  listLicenseTimeline,
  ref,
  showLicense,
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
import {
  ADMIN_FRESH,
  SUPPORT_FRESH,
  VIEWER,
  VIEWER_FRESH,
  operatorOf,
} from '#server/http/require-operator.ts';
import { serveOperation } from '#server/http/serve-operation.ts';
import type { CsvColumns } from '#server/lib/csv.ts';

import { describeLicense, type LicenseAdminDependencies } from './describe-license.ts';
import { exportActivations, exportLicenses, listAdminLicenses } from './list-licenses.ts';
import { exportTimeline, readTimeline } from './read-timeline.ts';

const PATH = '/api/v1/admin/licenses';
const TAGS = ['admin: licenses'];
const DEFAULT_SORT = '-created_at';

/** Registers the operations that read licenses. */
export function registerLicenseAdminRoutes(app: App, deps: LicenseAdminDependencies): void {
  app.get(PATH, { config: VIEWER, schema: listOperation }, (request) =>
    answerPage(
      readPageRequest(request.query, DEFAULT_SORT),
      (page) => listAdminLicenses(deps, request.query, page),
      (license) => license,
    ),
  );
  serveOperation(app, showLicense, ({ params }) => describeLicense(deps, params.id));
  serveOperation(app, listLicenseTimeline, ({ params, query }) =>
    answerPage(
      readPageRequest(query, '-occurred_at'),
      (page) => readTimeline(deps, params.id, query.kind ?? null, page),
      (item) => item,
    ),
  );
  registerExports(app, deps);
}

const TIMELINE_COLUMNS: CsvColumns<LicenseTimelineItem> = {
  id: (item) => item.id,
  occurred_at: (item) => item.occurred_at,
  kind: (item) => item.kind,
  code: (item) => item.code,
  actor: (item) => item.actor,
  reason: (item) => item.reason,
  details: (item) => JSON.stringify(item.details),
};

function registerExports(app: App, deps: LicenseAdminDependencies): void {
  serveOperation(app, exportLicenseTimeline, async ({ params, query, operator }, reply) => {
    const items = await exportTimeline(deps, params.id, query.kind ?? null, operator.actor);
    return answerCsv(reply, 'timeline', TIMELINE_COLUMNS, items);
  });
  for (const [path, config, schema] of [
    [`${PATH}/export`, SUPPORT_FRESH, exportOperation],
    [`${PATH}/export-with-keys`, ADMIN_FRESH, exportKeysOperation],
  ] as const) {
    app.get(path, { config, schema }, async (request, reply) => {
      const order = readOrder(request.query, DEFAULT_SORT);
      const access = { actor: operatorOf(request).actor, reveal: schema === exportKeysOperation };
      const { columns, rows } = await exportLicenses(deps, request.query, order, access);
      return answerCsv(reply, 'licenses', columns, rows);
    });
  }
  app.get(
    `${PATH}/export-activations`,
    { config: VIEWER_FRESH, schema: exportActivationsOperation },
    async (request, reply) => {
      const order = readOrder(request.query, DEFAULT_SORT);
      const { actor } = operatorOf(request);
      const { columns, rows } = await exportActivations(deps, request.query, order, actor);
      return answerCsv(reply, 'activations', columns, rows);
    },
  );
}

const listOperation = {
  operationId: 'listLicenses',
  tags: TAGS,
  summary: 'List licenses',
  description: 'Without their keys. Filters apply together.',
  querystring: AdminLicenseQuery,
  response: { 200: ref(AdminLicenses, 'A page of licenses.') },
} satisfies FastifySchema;

const CSV = csvAnswer('All rows.');

const exportOperation = {
  operationId: 'exportLicenses',
  tags: TAGS,
  summary: 'Export licenses as CSV',
  description: 'With the filters of the list, without keys. The audit log records it.',
  querystring: AdminLicenseExportQuery,
  response: CSV,
} satisfies FastifySchema;

const exportKeysOperation = {
  operationId: 'exportLicensesWithKeys',
  tags: TAGS,
  summary: 'Export licenses with their keys as CSV',
  description:
    'With the filters of the list; `trial=true`: of trials. The audit log records it. The cell of a key that cannot be unsealed is empty, and the service logs `license.key_unreadable`.',
  querystring: AdminLicenseExportQuery,
  response: CSV,
} satisfies FastifySchema;

const exportActivationsOperation = {
  operationId: 'exportActivations',
  tags: TAGS,
  summary: 'Export the activations of licenses as CSV',
  description:
    'With the filters of the list of licenses. Also machines that were deactivated. The audit log records it.',
  querystring: AdminLicenseExportQuery,
  response: csvAnswer('One line for each machine on a license.'),
} satisfies FastifySchema;
