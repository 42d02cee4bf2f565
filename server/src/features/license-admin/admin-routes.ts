import {
  AdminLicenseDetails,
  AdminLicenseExportQuery,
  AdminLicensePath,
  AdminLicenseQuery,
  AdminLicenses,
  LicenseReveal,
  LicenseTimeline,
  LicenseTimelineExportQuery,
  type LicenseTimelineItem,
  LicenseTimelineQuery,
  RevealedLicenseKey,
  ref,
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
  SUPPORT,
  SUPPORT_FRESH,
  VIEWER,
  VIEWER_FRESH,
  operatorOf,
} from '#server/http/require-operator.ts';
import type { CsvColumns } from '#server/lib/csv.ts';

import { revealKey } from './change-license.ts';
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
  app.get(`${PATH}/:id`, { config: VIEWER, schema: showOperation }, (request) =>
    describeLicense(deps, request.params.id),
  );
  app.get(`${PATH}/:id/timeline`, { config: VIEWER, schema: timelineOperation }, (request) =>
    answerPage(
      readPageRequest(request.query, '-occurred_at'),
      (page) => readTimeline(deps, request.params.id, request.query.kind ?? null, page),
      (item) => item,
    ),
  );
  app.post(`${PATH}/:id/reveal`, { config: SUPPORT, schema: revealOperation }, async (request) => {
    const { actor } = operatorOf(request);
    const { reason = null } = request.body;
    return { license_key: await revealKey(deps, request.params.id, { actor, reason }) };
  });
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
  app.get(
    `${PATH}/:id/timeline/export`,
    { config: SUPPORT_FRESH, schema: exportTimelineOperation },
    async (request, reply) => {
      const { params, query } = request;
      const { actor } = operatorOf(request);
      const items = await exportTimeline(deps, params.id, query.kind ?? null, actor);
      return answerCsv(reply, 'timeline', TIMELINE_COLUMNS, items);
    },
  );
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

const showOperation = {
  operationId: 'showLicense',
  tags: TAGS,
  summary: 'Show a license, and why it does not work',
  description: 'Everything but its key. `diagnosis` is one sentence, and what to do.',
  params: AdminLicensePath,
  response: { 200: ref(AdminLicenseDetails, 'The license.') },
  problems: ['license_not_found'],
} satisfies FastifySchema;

const timelineOperation = {
  operationId: 'listLicenseTimeline',
  tags: TAGS,
  summary: 'List what happened to a license',
  description:
    'Newest first: audit entries, payment events, mails, machines, refused requests by day, and outgoing webhooks.',
  params: AdminLicensePath,
  querystring: LicenseTimelineQuery,
  response: { 200: ref(LicenseTimeline, 'A page of the timeline.') },
  problems: ['license_not_found'],
} satisfies FastifySchema;

const exportTimelineOperation = {
  operationId: 'exportLicenseTimeline',
  tags: TAGS,
  summary: 'Export what happened to a license as CSV',
  description: 'Newest first. The audit log records it.',
  params: AdminLicensePath,
  querystring: LicenseTimelineExportQuery,
  response: csvAnswer('One line for each item.'),
  problems: ['license_not_found'],
} satisfies FastifySchema;

const revealOperation = {
  operationId: 'revealLicenseKey',
  tags: TAGS,
  summary: 'Reveal the key of a license',
  description: 'The audit log records it.',
  params: AdminLicensePath,
  body: ref(LicenseReveal),
  response: { 200: ref(RevealedLicenseKey, 'The key.') },
  problems: ['license_not_found'],
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
