/** `latchkey endpoint`: the receivers of outgoing webhooks. This file adds, lists and changes them. */
import { InvalidArgumentError } from 'commander';

import type { Context } from '#server/context.ts';
import { addEndpoint } from '#server/features/outgoing-webhooks/add-endpoint.ts';
import {
  disableEndpoint,
  editEndpoint,
  enableEndpoint,
  listEndpoints,
  type NamedEndpointChange,
  removeEndpoint,
  rollEndpoint,
} from '#server/features/outgoing-webhooks/manage-endpoints.ts';
import type { EndpointRecord } from '#server/features/outgoing-webhooks/queries/endpoints.ts';
import { EVENT_TYPES, type EventType } from '#server/features/outgoing-webhooks/rules/payload.ts';
import { formatTimestamp } from '#server/lib/text.ts';

import { currentActor } from '../actor.ts';
import { type Help, commandGroup, type Result } from '../command.ts';
import { usageError } from '../command-error.ts';
import { DAY_MS, orEmpty, overlapOption, reasonOption, shortText } from '../options.ts';
import { paint } from '../output.ts';
import { anyText, argument, option } from '../parameters.ts';
import { formatFields, formatRows } from '../table.ts';
import { contextCommand } from '../with-context.ts';
import { logCommand, replayCommand, testCommand } from './deliveries.ts';
import {
  endpointArgument,
  formatEvents,
  stateOf,
  toEndpointFields,
  toEndpointJson,
} from './view.ts';

function eventsOption(otherwise: string) {
  const types = EVENT_TYPES.join(', ');
  const description = `event types, separated by commas: ${types}${otherwise}`;
  return option('--events <types>', description, readEventTypes);
}

const addCommand = contextCommand({
  name: 'add',
  description:
    'Add an endpoint that receives webhooks, and print its signing secret. The secret cannot be shown again. A running service uses the endpoint within five seconds.',
  examples: {
    'endpoint add https://crm.example.com/hooks/latchkey': 'Receive every event',
    'endpoint add https://crm.example.com/hooks --events license.created,license.expired':
      'Receive the creation and the expiry of licenses',
  },
  parameters: [
    argument(
      '<url>',
      'https:// or http:// URL; its address must be public or allowed by LATCHKEY_WEBHOOK_ALLOWED_NETWORKS',
      anyText,
    ),
    eventsOption(' (default: all)'),
    option('--description <text>', 'purpose of the endpoint', shortText),
    reasonOption,
  ],
  async run(context, { url, events, description, reason }) {
    const newEndpoint = { url, eventTypes: events ?? [], description };
    const change = { actor: currentActor(), reason };
    const { endpoint, secret } = await addEndpoint(context, newEndpoint, change);
    return printableSecret(
      secret,
      endpoint,
      'The receiver verifies messages with it (Standard Webhooks).',
    );
  },
});

/** `all` is the absence of a filter. */
function readEventTypes(text: string): EventType[] {
  if (text.trim() === 'all') return [];
  return text.split(',').map((part) => {
    const type = EVENT_TYPES.find((each) => each === part.trim());
    if (type !== undefined) return type;
    throw new InvalidArgumentError(`Expected one or more of ${EVENT_TYPES.join(', ')}.`);
  });
}

/** The only time that a secret is printed. */
function printableSecret(secret: string, endpoint: EndpointRecord, advice: string): Result {
  const fields = formatFields(toEndpointFields(endpoint));
  return {
    json: { secret, ...toEndpointJson(endpoint) },
    text: `${paint('bold', secret)}\n\n${fields}\n\nStore the secret in the receiver now: it cannot be shown again. ${advice}`,
  };
}

const listCommand = contextCommand({
  name: 'list',
  description: 'List the endpoints, oldest first, without their secrets.',
  examples: { 'endpoint list': 'Endpoints, their event types and their state' },
  async run(context) {
    const endpoints = await listEndpoints(context);
    const text = formatRows(endpoints, 'No endpoints. Add one with latchkey endpoint add.', [
      ['id', (endpoint) => endpoint.id],
      ['url', (endpoint) => endpoint.url],
      ['events', formatEvents],
      ['state', stateOf],
      ['failing since', (endpoint) => endpoint.failingSince],
      ['description', (endpoint) => endpoint.description],
    ]);
    return { json: endpoints.map(toEndpointJson), text };
  },
});

const editCommand = contextCommand({
  name: 'edit',
  description:
    'Change which events an endpoint receives from now on, or its description. To change the URL, add another endpoint.',
  examples: {
    'endpoint edit https://crm.example.com/hooks --events license.created':
      'Receive only the creation of licenses',
    'endpoint edit https://crm.example.com/hooks --events all --description ""':
      'Receive every event, without a description',
  },
  parameters: [
    endpointArgument,
    eventsOption('; or all'),
    option('--description <text>', 'purpose of the endpoint, "" removes it', orEmpty(shortText)),
    reasonOption,
  ],
  async run(context, { endpoint: idOrUrl, events, description, reason }) {
    if (events === null && description === null) {
      throw usageError('Give --events or --description.');
    }
    const endpoint = await editEndpoint(
      context,
      { idOrUrl, reason, actor: currentActor() },
      {
        eventTypes: events ?? undefined,
        description: description === null ? undefined : description === '' ? null : description,
      },
    );
    return { json: toEndpointJson(endpoint), text: formatFields(toEndpointFields(endpoint)) };
  },
});

const rollCommand = contextCommand({
  name: 'roll',
  description:
    'Replace the signing secret of an endpoint and print the new one. The new secret cannot be shown again. Messages are signed with both secrets for the overlap.',
  examples: {
    'endpoint roll https://crm.example.com/hooks': 'Sign with both secrets for a day',
    'endpoint roll https://crm.example.com/hooks --overlap 0': 'Invalidate the old one at once',
  },
  parameters: [endpointArgument, overlapOption(30 * DAY_MS), reasonOption],
  async run(context, { endpoint: idOrUrl, overlap, reason }) {
    const change = { idOrUrl, reason, actor: currentActor() };
    const { endpoint, secret } = await rollEndpoint(context, change, overlap);
    const { previousSecretUntil: until } = endpoint;
    const advice =
      until === null
        ? 'The old secret is invalid from now on.'
        : `Messages are also signed with the old secret until ${formatTimestamp(until)}.`;
    return printableSecret(secret, endpoint, advice);
  },
});

interface ChangeHelp extends Help {
  readonly change: (context: Context, change: NamedEndpointChange) => Promise<EndpointRecord>;
  /** The verb in the past tense. */
  readonly done: string;
}

function changeCommand({ change, done, ...help }: ChangeHelp) {
  return contextCommand({
    ...help,
    parameters: [endpointArgument, reasonOption],
    async run(context, { endpoint: idOrUrl, reason }) {
      const endpoint = await change(context, { idOrUrl, reason, actor: currentActor() });
      return {
        json: toEndpointJson(endpoint),
        text: `${done} ${endpoint.url} (${endpoint.id}).`,
      };
    },
  });
}

const disableCommand = changeCommand({
  name: 'disable',
  description:
    'Stop deliveries to an endpoint. Pending messages wait until it is enabled; later events are not queued for it.',
  examples: {
    'endpoint disable https://crm.example.com/hooks --reason "server move"':
      'During maintenance of the receiver',
  },
  change: disableEndpoint,
  done: 'Disabled',
});

const enableCommand = changeCommand({
  name: 'enable',
  description: 'Resume deliveries to an endpoint that an operator or repeated failures disabled.',
  examples: { 'endpoint enable https://crm.example.com/hooks': 'After a repair of the receiver' },
  change: enableEndpoint,
  done: 'Enabled',
});

const removeCommand = changeCommand({
  name: 'remove',
  description: 'Delete an endpoint and its secret permanently.',
  examples: {
    'endpoint remove https://crm.example.com/hooks --reason "obsolete"':
      'When a receiver is gone for good',
  },
  change: removeEndpoint,
  done: 'Removed',
});

export const endpointCommand = commandGroup(
  'endpoint',
  'Manage the receivers of outgoing webhooks.',
  [
    addCommand,
    listCommand,
    testCommand,
    logCommand,
    replayCommand,
    editCommand,
    rollCommand,
    disableCommand,
    enableCommand,
    removeCommand,
  ],
);
