/** Shared by the commands of `latchkey endpoint`: the endpoint argument, and how an endpoint is shown. */
import type { EndpointRecord } from '#server/features/outgoing-webhooks/queries/endpoints.ts';

import { shortText } from '../options.ts';
import { argument } from '../parameters.ts';
import type { Cell } from '../table.ts';

export const endpointArgument = argument('<endpoint>', 'id or URL of the endpoint', shortText);

/** `active`, `failing`, or `disabled` with the reason: operator, gone (410) or failing. */
export function stateOf({ disabledReason, failingSince }: EndpointRecord): string {
  if (disabledReason !== null) return `disabled (${disabledReason})`;
  return failingSince === null ? 'active' : 'failing';
}

/** An endpoint as JSON, without its secret. */
export function toEndpointJson(endpoint: EndpointRecord) {
  return {
    id: endpoint.id,
    url: endpoint.url,
    description: endpoint.description,
    events: endpoint.eventTypes.length === 0 ? null : endpoint.eventTypes,
    state: endpoint.disabledAt === null ? stateOf(endpoint) : 'disabled',
    created_at: endpoint.createdAt,
    failing_since: endpoint.failingSince,
    disabled_at: endpoint.disabledAt,
    disabled_reason: endpoint.disabledReason,
    previous_secret_until: endpoint.previousSecretUntil,
  };
}

/** The fields of an endpoint for the terminal. */
export function toEndpointFields(endpoint: EndpointRecord): (readonly [string, Cell])[] {
  return [
    ['id', endpoint.id],
    ['url', endpoint.url],
    ['description', endpoint.description],
    ['events', formatEvents(endpoint)],
    ['state', stateOf(endpoint)],
  ];
}

export function formatEvents({ eventTypes }: EndpointRecord): string {
  return eventTypes.length === 0 ? 'all' : eventTypes.join(' ');
}
