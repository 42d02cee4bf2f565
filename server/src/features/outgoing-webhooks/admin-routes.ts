/** The endpoints of outgoing webhooks for operators, and their secrets. */
import {
  Done,
  ref,
  WebhookEndpoint,
  WebhookEndpointChange,
  WebhookEndpointCreate,
  WebhookEndpointItem,
  WebhookEndpointQuery,
  WebhookEndpointRowsQuery,
  WebhookEndpointPath,
  WebhookEndpointRoll,
  WebhookEndpoints,
  WebhookEndpointUpdate,
  WebhookSecret,
  WebhookTest,
} from '@latchkey/contract';
import type { FastifyRequest, FastifySchema } from 'fastify';

import {
  answerCsv,
  answerPage,
  csvAnswer,
  readOrder,
  readPageRequest,
} from '#server/http/admin-list.ts';
import type { App } from '#server/http/app-instance.ts';
import { OWN_SLOTS } from '#server/http/database-slots.ts';
import { DONE } from '#server/http/done.ts';
import {
  ADMIN,
  ADMIN_FRESH,
  VIEWER,
  VIEWER_FRESH,
  operatorOf,
} from '#server/http/require-operator.ts';
import type { CsvColumns } from '#server/lib/csv.ts';

import { addEndpoint, type EndpointDependencies, type EndpointWithSecret } from './add-endpoint.ts';
import { registerDeliveryRoutes, type DeliveryRouteDependencies } from './admin-delivery-routes.ts';
import {
  exportEndpoints,
  listEndpointPage,
  showEndpoint,
  viewListedEndpoint,
  type ListedEndpoint,
} from './list-endpoints.ts';
import {
  disableEndpoint,
  editEndpoint,
  enableEndpoint,
  removeEndpoint,
  rollEndpoint,
  sendTestMessage,
  type NamedEndpointChange,
} from './manage-endpoints.ts';
import { viewEndpoint } from './view-endpoint.ts';

const ENDPOINTS = '/api/v1/admin/webhook-endpoints';
const ENDPOINT = `${ENDPOINTS}/:id`;
const TAGS = ['admin: webhooks'];

const SECOND_MS = 1_000;

/** Also the first of the sorts in the contract. */
const OLDEST = 'created_at';

const COLUMNS: CsvColumns<ListedEndpoint> = {
  id: (endpoint) => endpoint.id,
  url: (endpoint) => endpoint.url,
  description: (endpoint) => endpoint.description,
  events: (endpoint) => endpoint.eventTypes.join(' '),
  state: (endpoint) => viewEndpoint(endpoint).state,
  disabled_reason: (endpoint) => endpoint.disabledReason,
  pending: (endpoint) => endpoint.pending,
  failed: (endpoint) => endpoint.failed,
  created_at: (endpoint) => endpoint.createdAt,
  failing_since: (endpoint) => endpoint.failingSince,
  disabled_at: (endpoint) => endpoint.disabledAt,
};

export function registerWebhookRoutes(app: App, deps: DeliveryRouteDependencies): void {
  app.get(ENDPOINTS, { config: VIEWER, schema: listEndpointsOperation }, ({ query }) =>
    answerPage(
      readPageRequest(query, OLDEST),
      (page) => listEndpointPage(deps, query, page),
      viewListedEndpoint,
    ),
  );
  app.get(
    `${ENDPOINTS}/export`,
    { config: VIEWER_FRESH, schema: exportEndpointsOperation },
    async (request, reply) => {
      const { query } = request;
      const { actor } = operatorOf(request);
      const rows = await exportEndpoints(deps, query, readOrder(query, OLDEST), actor);
      return answerCsv(reply, 'webhook-endpoints', COLUMNS, rows);
    },
  );
  app.get(ENDPOINT, { config: VIEWER, schema: showEndpointOperation }, (request) =>
    showEndpoint(deps, request.params.id),
  );
  registerEndpointChanges(app, deps);
  registerSecrets(app, deps);
  registerDeliveryRoutes(app, deps);
}

type ChangeRequest = FastifyRequest<{
  Params: { readonly id: string };
  Body: { readonly expected_version: number; readonly reason: string };
}>;

function toChange(
  request: Pick<ChangeRequest, 'params' | 'body' | 'operator'>,
  actor: string,
): NamedEndpointChange {
  const { expected_version: expectedVersion, reason } = request.body;
  return { idOrUrl: request.params.id, actor, reason, expectedVersion };
}

function registerEndpointChanges(app: App, deps: EndpointDependencies): void {
  app.post(`${ENDPOINT}/update`, { config: ADMIN, schema: updateOperation }, async (request) => {
    const { events: eventTypes, description } = request.body;
    const change = toChange(request, operatorOf(request).actor);
    return viewEndpoint(await editEndpoint(deps, change, { eventTypes, description }));
  });
  app.post(`${ENDPOINT}/disable`, { config: ADMIN, schema: disableOperation }, async (request) =>
    viewEndpoint(await disableEndpoint(deps, toChange(request, operatorOf(request).actor))),
  );
  app.post(`${ENDPOINT}/enable`, { config: ADMIN, schema: enableOperation }, async (request) =>
    viewEndpoint(await enableEndpoint(deps, toChange(request, operatorOf(request).actor))),
  );
  app.post(
    `${ENDPOINT}/remove`,
    { config: ADMIN_FRESH, schema: removeOperation },
    async (request) => {
      await removeEndpoint(deps, toChange(request, operatorOf(request).actor));
      return DONE;
    },
  );
  app.post(
    `${ENDPOINT}/test`,
    { config: { ...ADMIN, ...OWN_SLOTS }, schema: testOperation },
    async (request) => {
      const { outcome } = await sendTestMessage(deps, request.params.id, operatorOf(request).actor);
      const { delivered, status, durationMs, error, answer } = outcome;
      return { delivered, status, duration_ms: durationMs, error, answer };
    },
  );
}

function registerSecrets(app: App, deps: EndpointDependencies): void {
  app.post(ENDPOINTS, { config: ADMIN_FRESH, schema: addOperation }, (request) => {
    const { url, events: eventTypes, description = null, reason } = request.body;
    const change = { actor: operatorOf(request).actor, reason };
    return addEndpoint(deps, { url, eventTypes, description }, change).then(viewSecret);
  });
  app.post(`${ENDPOINT}/roll`, { config: ADMIN_FRESH, schema: rollOperation }, async (request) => {
    const overlapMs = request.body.overlap_seconds * SECOND_MS;
    const change = toChange(request, operatorOf(request).actor);
    return viewSecret(await rollEndpoint(deps, change, overlapMs));
  });
}

function viewSecret({ secret, endpoint }: EndpointWithSecret) {
  return { secret, endpoint: viewEndpoint(endpoint) };
}

const exportEndpointsOperation = {
  operationId: 'exportWebhookEndpoints',
  tags: TAGS,
  summary: 'Export the endpoints of outgoing webhooks as CSV',
  description: 'Without their secrets. The audit log records it.',
  querystring: WebhookEndpointRowsQuery,
  response: csvAnswer('One line for each endpoint.'),
} satisfies FastifySchema;

const listEndpointsOperation = {
  operationId: 'listWebhookEndpoints',
  tags: TAGS,
  summary: 'List the endpoints of outgoing webhooks',
  querystring: WebhookEndpointQuery,
  response: { 200: ref(WebhookEndpoints, 'All endpoints, the oldest first: at most 50.') },
} satisfies FastifySchema;

const showEndpointOperation = {
  operationId: 'showWebhookEndpoint',
  tags: TAGS,
  summary: 'Show an endpoint',
  params: WebhookEndpointPath,
  response: { 200: ref(WebhookEndpointItem, 'The endpoint, without its secret.') },
  problems: ['not_found'],
} satisfies FastifySchema;

const addOperation = {
  operationId: 'addWebhookEndpoint',
  tags: TAGS,
  summary: 'Add an endpoint',
  description: 'A running service uses it within five seconds.',
  body: ref(WebhookEndpointCreate),
  response: { 200: ref(WebhookSecret, 'The endpoint and its signing secret.') },
  problems: ['not_possible'],
} satisfies FastifySchema;

const CHANGES_ENDPOINT = ['not_found', 'conflict'] as const;

const updateOperation = {
  operationId: 'updateWebhookEndpoint',
  tags: TAGS,
  summary: 'Change the event types and the description of an endpoint',
  params: WebhookEndpointPath,
  body: ref(WebhookEndpointUpdate),
  response: { 200: ref(WebhookEndpoint, 'The changed endpoint.') },
  problems: CHANGES_ENDPOINT,
} satisfies FastifySchema;

const disableOperation = {
  operationId: 'disableWebhookEndpoint',
  tags: TAGS,
  summary: 'Pause the deliveries to an endpoint',
  description: 'Pending messages wait until it is enabled; later events are not recorded for it.',
  params: WebhookEndpointPath,
  body: ref(WebhookEndpointChange),
  response: { 200: ref(WebhookEndpoint, 'The disabled endpoint.') },
  problems: CHANGES_ENDPOINT,
} satisfies FastifySchema;

const enableOperation = {
  operationId: 'enableWebhookEndpoint',
  tags: TAGS,
  summary: 'Resume the deliveries to an endpoint',
  params: WebhookEndpointPath,
  body: ref(WebhookEndpointChange),
  response: { 200: ref(WebhookEndpoint, 'The enabled endpoint.') },
  problems: CHANGES_ENDPOINT,
} satisfies FastifySchema;

const removeOperation = {
  operationId: 'removeWebhookEndpoint',
  tags: TAGS,
  summary: 'Delete an endpoint and its secret',
  params: WebhookEndpointPath,
  body: ref(WebhookEndpointChange),
  response: { 200: ref(Done, 'The endpoint is deleted; its deliveries stay for 30 days.') },
  problems: CHANGES_ENDPOINT,
} satisfies FastifySchema;

const testOperation = {
  operationId: 'testWebhookEndpoint',
  tags: TAGS,
  summary: 'Send a test message to an endpoint',
  description: 'Sends a signed message of the type `endpoint.test` once, even if it is disabled.',
  params: WebhookEndpointPath,
  response: { 200: ref(WebhookTest, 'How the endpoint answered.') },
  problems: ['not_found'],
} satisfies FastifySchema;

const rollOperation = {
  operationId: 'rollWebhookSecret',
  tags: TAGS,
  summary: 'Replace the signing secret of an endpoint',
  params: WebhookEndpointPath,
  body: ref(WebhookEndpointRoll),
  response: { 200: ref(WebhookSecret, 'The endpoint and its new secret.') },
  problems: CHANGES_ENDPOINT,
} satisfies FastifySchema;
