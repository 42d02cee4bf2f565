/** The deliveries of outgoing webhooks for operators: list, show and replay. */
import {
  ref,
  WebhookDeliveries,
  WebhookDeliveriesExportQuery,
  WebhookDeliveriesQuery,
  WebhookDelivery,
  WebhookDeliveryPath,
  WebhookReplay,
  WebhookReplayAllRequest,
  WebhookReplayRequest,
} from '@latchkey/contract';
import type { FastifyRequest, FastifySchema } from 'fastify';

import {
  answerPage,
  csvAnswer,
  readOrder,
  readPageRequest,
  answerCsv,
} from '#server/http/admin-list.ts';
import type { App } from '#server/http/app-instance.ts';
import { ADMIN, SUPPORT_FRESH, VIEWER, operatorOf } from '#server/http/require-operator.ts';
import { readTimeFilter } from '#server/lib/read-time-filter.ts';
import type { CsvColumns } from '#server/lib/csv.ts';

import type { EndpointDependencies } from './add-endpoint.ts';
import {
  exportDeliveries,
  listDeliveriesPage,
  showDelivery,
  viewDelivery,
  type DeliveryListDependencies,
} from './list-deliveries.ts';
import { replayDeliveries } from './replay.ts';

const DELIVERIES = '/api/v1/admin/webhook-deliveries';
const DELIVERY = `${DELIVERIES}/:message_id/:endpoint_id`;
const TAGS = ['admin: webhooks'];
const DEFAULT_SORT = '-created_at';

type DeliveryRow = Awaited<ReturnType<typeof listDeliveriesPage>>['rows'][number];

const COLUMNS: CsvColumns<DeliveryRow> = {
  message_id: (delivery) => delivery.messageId,
  endpoint_id: (delivery) => delivery.endpointId,
  endpoint_url: (delivery) => delivery.endpointUrl,
  type: (delivery) => delivery.type,
  license_id: (delivery) => delivery.licenseId,
  state: (delivery) => delivery.state,
  attempts: (delivery) => delivery.attempts,
  created_at: (delivery) => delivery.createdAt,
  last_attempt_at: (delivery) => delivery.lastAttemptAt,
  next_attempt_at: (delivery) => delivery.nextAttemptAt,
  last_status: (delivery) => delivery.lastStatus,
  last_duration_ms: (delivery) => delivery.lastDurationMs,
  last_error: (delivery) => delivery.lastError,
};

export type DeliveryRouteDependencies = DeliveryListDependencies & EndpointDependencies;

export function registerDeliveryRoutes(app: App, deps: DeliveryRouteDependencies): void {
  app.get(DELIVERIES, { config: VIEWER, schema: listOperation }, (request) =>
    answerPage(
      readPageRequest(request.query, DEFAULT_SORT),
      (page) => listDeliveriesPage(deps, page, request.query),
      viewDelivery,
    ),
  );
  app.get(
    `${DELIVERIES}/export`,
    { config: SUPPORT_FRESH, schema: exportOperation },
    async (request, reply) => {
      const { actor } = operatorOf(request);
      const order = readOrder(request.query, DEFAULT_SORT);
      const rows = await exportDeliveries(deps, order, request.query, actor);
      return answerCsv(reply, 'webhook-deliveries', COLUMNS, rows);
    },
  );
  app.get(DELIVERY, { config: VIEWER, schema: showOperation }, (request) => {
    const { message_id: messageId, endpoint_id: endpointId } = request.params;
    return showDelivery(deps, messageId, endpointId, operatorOf(request).role === 'admin');
  });
  app.post(`${DELIVERY}/replay`, { config: ADMIN, schema: replayOneOperation }, (request) => {
    const { message_id: messageId, endpoint_id: idOrUrl } = request.params;
    return replay(deps, request, { subject: { messageId }, idOrUrl });
  });
  app.post(`${DELIVERIES}/replay`, { config: ADMIN, schema: replayOperation }, (request) => {
    const { endpoint_id: idOrUrl = null } = request.body;
    const failedSince = readTimeFilter('body', 'since', request.body.since) ?? new Date(0);
    return replay(deps, request, { subject: { failedSince }, idOrUrl });
  });
}

async function replay(
  deps: EndpointDependencies,
  request: FastifyRequest<{ Body: { readonly reason: string } }>,
  which: Pick<Parameters<typeof replayDeliveries>[1], 'subject' | 'idOrUrl'>,
) {
  const change = { actor: operatorOf(request).actor, reason: request.body.reason };
  const { count, waiting } = await replayDeliveries(deps, { ...which, ...change });
  return {
    replayed: count,
    waiting: waiting.reduce((total, each) => total + each.count, 0),
  };
}

const listOperation = {
  operationId: 'listWebhookDeliveries',
  tags: TAGS,
  summary: 'List the deliveries of the last 30 days',
  querystring: WebhookDeliveriesQuery,
  response: { 200: ref(WebhookDeliveries, 'A page of the deliveries, the newest event first.') },
} satisfies FastifySchema;

const exportOperation = {
  operationId: 'exportWebhookDeliveries',
  tags: TAGS,
  summary: 'Export deliveries as CSV',
  querystring: WebhookDeliveriesExportQuery,
  response: csvAnswer('The deliveries of the filter.'),
} satisfies FastifySchema;

const showOperation = {
  operationId: 'showWebhookDelivery',
  tags: TAGS,
  summary: 'Show a delivery with its body and its attempts',
  params: WebhookDeliveryPath,
  response: { 200: ref(WebhookDelivery, 'The delivery.') },
  problems: ['not_found'],
} satisfies FastifySchema;

const replayOneOperation = {
  operationId: 'replayWebhookDelivery',
  tags: TAGS,
  summary: 'Deliver a message to an endpoint again',
  description: 'The message keeps its id, so that the receiver recognizes a duplicate.',
  params: WebhookDeliveryPath,
  body: ref(WebhookReplayRequest),
  response: { 200: ref(WebhookReplay, 'The delivery is queued.') },
  problems: ['not_found'],
} satisfies FastifySchema;

const replayOperation = {
  operationId: 'replayWebhookDeliveries',
  tags: TAGS,
  summary: 'Deliver every message again that exhausted its retries',
  body: ref(WebhookReplayAllRequest),
  response: { 200: ref(WebhookReplay, 'How many deliveries are queued.') },
  problems: ['not_found'],
} satisfies FastifySchema;
