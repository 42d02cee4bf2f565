/** The endpoints of outgoing webhooks for operators, and their secrets. */
import {
  addWebhookEndpoint,
  disableWebhookEndpoint,
  enableWebhookEndpoint,
  removeWebhookEndpoint,
  rollWebhookSecret,
  showWebhookEndpoint,
  testWebhookEndpoint,
  updateWebhookEndpoint,
  webhookEndpoints,
  type WebhookSecret,
} from '@latchkey/contract';

import type { App } from '#server/http/app-instance.ts';
import { OWN_SLOTS } from '#server/http/database-slots.ts';
import { DONE } from '#server/http/done.ts';
import { serveOperation, type OperationRequest } from '#server/http/serve-operation.ts';

import { serveList, type ListDependencies } from '../lists/serve-list.ts';
import { addEndpoint, type EndpointDependencies, type EndpointWithSecret } from './add-endpoint.ts';
import { registerDeliveryRoutes } from './admin-delivery-routes.ts';
import { endpointSource, showEndpoint } from './list-endpoints.ts';
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

const SECOND_MS = 1_000;

export function registerWebhookRoutes(
  app: App,
  deps: EndpointDependencies & ListDependencies,
): void {
  serveList(app, deps, webhookEndpoints, endpointSource(deps));
  serveOperation(app, showWebhookEndpoint, ({ params }) => showEndpoint(deps, params.id));
  serveEndpointChanges(app, deps);
  serveSecrets(app, deps);
  registerDeliveryRoutes(app, deps);
}

function serveEndpointChanges(app: App, deps: EndpointDependencies): void {
  serveOperation(app, updateWebhookEndpoint, async (request) => {
    const { events: eventTypes, description } = request.body;
    return viewEndpoint(await editEndpoint(deps, toChange(request), { eventTypes, description }));
  });
  serveOperation(app, disableWebhookEndpoint, async (request) =>
    viewEndpoint(await disableEndpoint(deps, toChange(request))),
  );
  serveOperation(app, enableWebhookEndpoint, async (request) =>
    viewEndpoint(await enableEndpoint(deps, toChange(request))),
  );
  serveOperation(app, removeWebhookEndpoint, async (request) => {
    await removeEndpoint(deps, toChange(request));
    return DONE;
  });
  const sendTest = async ({ params, operator }: OperationRequest<typeof testWebhookEndpoint>) => {
    const { outcome } = await sendTestMessage(deps, params.id, operator.actor);
    const { delivered, status, durationMs, error, answer } = outcome;
    return { delivered, status, duration_ms: durationMs, error, answer };
  };
  serveOperation(app, testWebhookEndpoint, sendTest, OWN_SLOTS);
}

function serveSecrets(app: App, deps: EndpointDependencies): void {
  serveOperation(app, addWebhookEndpoint, async ({ body, operator }) => {
    const { url, events: eventTypes, description = null, reason } = body;
    const change = { actor: operator.actor, reason };
    return viewSecret(await addEndpoint(deps, { url, eventTypes, description }, change));
  });
  serveOperation(app, rollWebhookSecret, async (request) => {
    const overlapMs = request.body.overlap_seconds * SECOND_MS;
    return viewSecret(await rollEndpoint(deps, toChange(request), overlapMs));
  });
}

function toChange({
  params,
  body,
  operator,
}: OperationRequest<typeof disableWebhookEndpoint>): NamedEndpointChange {
  const { expected_version: expectedVersion, reason } = body;
  return { idOrUrl: params.id, actor: operator.actor, reason, expectedVersion };
}

function viewSecret({ secret, endpoint }: EndpointWithSecret): WebhookSecret {
  return { secret, endpoint: viewEndpoint(endpoint) };
}
