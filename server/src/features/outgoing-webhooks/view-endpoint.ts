import type { WebhookEndpoint } from '@latchkey/contract';

import type { EndpointRecord } from './queries/endpoints.ts';

/** Converts an endpoint to the form of the interface, without its secrets. */
export function viewEndpoint(endpoint: EndpointRecord): WebhookEndpoint {
  return {
    id: endpoint.id,
    url: endpoint.url,
    description: endpoint.description,
    events: [...endpoint.eventTypes],
    state: stateOf(endpoint),
    disabled_reason: endpoint.disabledReason,
    created_at: endpoint.createdAt.toISOString(),
    failing_since: endpoint.failingSince?.toISOString() ?? null,
    disabled_at: endpoint.disabledAt?.toISOString() ?? null,
    previous_secret_until: endpoint.previousSecretUntil?.toISOString() ?? null,
    version: endpoint.version,
  };
}

function stateOf({ disabledAt, failingSince }: EndpointRecord): WebhookEndpoint['state'] {
  if (disabledAt !== null) return 'disabled';
  return failingSince === null ? 'active' : 'failing';
}
