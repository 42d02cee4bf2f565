import {
  AdminSuppressionList,
  AdminSuppressionQuery,
  AdminSuppressionRows,
  Done,
  ref,
  SuppressionAdd,
  SuppressionRemove,
} from '@latchkey/contract';
import type { FastifySchema } from 'fastify';

import { notFound } from '#server/errors.ts';
import {
  answerPage,
  csvAnswer,
  readOrder,
  readPageRequest,
  answerCsv,
} from '#server/http/admin-list.ts';
import type { App } from '#server/http/app-instance.ts';
import { DONE } from '#server/http/done.ts';
import { ADMIN, SUPPORT_FRESH, VIEWER, operatorOf } from '#server/http/require-operator.ts';
import type { ConcurrencyLimiter } from '#server/lib/concurrency-limiter.ts';

import {
  exportSuppressions,
  readSuppressionPage,
  SUPPRESSION_COLUMNS,
  toSuppressionItem,
  toSuppressionQuery,
} from './list-suppressions.ts';
import { liftByHash, suppressManually } from './manual-changes.ts';

const PATH = '/api/v1/admin/suppressions';
const TAGS = ['admin: suppressions'];

/** Also the first of the sorts in the contract. */
const NEWEST = '-suppressed_at';

/** Registers the operations on suppressed addresses for operators. */
export function registerAdminSuppressionRoutes(
  app: App,
  deps: Parameters<typeof liftByHash>[0] & { readonly databaseLimiter: ConcurrencyLimiter },
): void {
  app.get(PATH, { config: VIEWER, schema: listOperation }, ({ query }) =>
    answerPage(
      readPageRequest(query, NEWEST),
      (page) => readSuppressionPage(deps, toSuppressionQuery(query), page),
      toSuppressionItem,
    ),
  );
  app.get(
    `${PATH}/export`,
    { config: SUPPORT_FRESH, schema: exportOperation },
    async (request, reply) => {
      const { actor } = operatorOf(request);
      const query = toSuppressionQuery(request.query);
      const rows = await exportSuppressions(deps, query, readOrder(request.query, NEWEST), actor);
      return answerCsv(reply, 'suppressions', SUPPRESSION_COLUMNS, rows);
    },
  );
  app.post(PATH, { config: ADMIN, schema: addOperation }, (request) => {
    const { email, reason } = request.body;
    const change = { email, reason, actor: operatorOf(request).actor };
    return suppressManually(deps, change).then(() => DONE);
  });
  app.post(`${PATH}/remove`, { config: ADMIN, schema: removeOperation }, async (request) => {
    const { address_hash: hash, reason } = request.body;
    if (!/^[\da-f]{64}$/u.test(hash)) throw notFound();
    const lifted = await liftByHash(deps, hash, { reason, actor: operatorOf(request).actor });
    if (!lifted) throw notFound();
    return DONE;
  });
}

const listOperation = {
  operationId: 'listSuppressions',
  tags: TAGS,
  summary: 'List addresses that receive no newsletter and no outreach',
  querystring: AdminSuppressionQuery,
  response: { 200: ref(AdminSuppressionList, 'One page, the newest first.') },
} satisfies FastifySchema;

const exportOperation = {
  operationId: 'exportSuppressions',
  tags: TAGS,
  summary: 'Export suppressions as CSV',
  description: 'The audit log records each export.',
  querystring: AdminSuppressionRows,
  response: csvAnswer('All rows.'),
} satisfies FastifySchema;

const addOperation = {
  operationId: 'addSuppression',
  tags: TAGS,
  summary: 'Suppress an address',
  description: 'It receives no newsletter and no outreach; e-mails with keys are still sent.',
  body: ref(SuppressionAdd),
  response: { 200: ref(Done, 'The address is suppressed.') },
} satisfies FastifySchema;

const removeOperation = {
  operationId: 'removeSuppression',
  tags: TAGS,
  summary: 'Allow mail to a suppressed address again',
  description: 'Only at the request of the owner of the address.',
  body: ref(SuppressionRemove),
  response: { 200: ref(Done, 'The address is not suppressed any more.') },
  problems: ['not_found'],
} satisfies FastifySchema;
