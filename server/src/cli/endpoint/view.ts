import { Argument } from 'commander';

import type { EndpointRecord } from '#server/features/outgoing-webhooks/queries/endpoints.ts';

import { shortText } from '../options.ts';
import { type Cell, formatFields, paint } from '../output.ts';

/** The endpoint that a command is about. */
export function endpointArgument(): Argument {
  return new Argument('<endpoint>', "the endpoint's id or URL").argParser(shortText);
}

/** `disabled` with the reason: by an operator, gone (410), or failing for days. */
export function stateOf({ disabledReason, failingSince }: EndpointRecord): string {
  if (disabledReason !== null) return `disabled (${disabledReason})`;
  return failingSince === null ? 'active' : 'failing';
}

/** An endpoint for programs; never its secret. */
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

/** An endpoint for people. */
function toEndpointFields(endpoint: EndpointRecord): (readonly [string, Cell])[] {
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

/** A secret that is shown this once, its endpoint, and what to do with it. */
export function describeWithSecret(
  secret: string,
  endpoint: EndpointRecord,
  advice: string,
): string {
  return `${paint('bold', secret)}

${formatFields(toEndpointFields(endpoint))}

${advice}`;
}
