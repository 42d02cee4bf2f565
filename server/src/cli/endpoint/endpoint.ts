/** `latchkey endpoint`: the receivers of outgoing webhooks. This file adds, lists and changes them. */
import { Command, InvalidArgumentError } from 'commander';

import type { Context } from '#server/context.ts';
import { addEndpoint } from '#server/features/outgoing-webhooks/add-endpoint.ts';
import {
  DEFAULT_OVERLAP_MS,
  disableEndpoint,
  enableEndpoint,
  listEndpoints,
  type NamedEndpointChange,
  removeEndpoint,
  rollEndpoint,
} from '#server/features/outgoing-webhooks/manage-endpoints.ts';
import type { EndpointRecord } from '#server/features/outgoing-webhooks/queries/endpoints.ts';
import { EVENT_TYPES, type EventType } from '#server/features/outgoing-webhooks/rules/payload.ts';

import { currentActor } from '../actor.ts';
import {
  DAY_MS,
  jsonOption,
  newCommand,
  overlapOption,
  reasonOption,
  shortText,
} from '../options.ts';
import { type OutputOptions, paint, printResult } from '../output.ts';
import { formatFields, formatMoment, formatRows } from '../table.ts';
import { withContext } from '../with-context.ts';
import { endpointLogCommand, endpointReplayCommand, endpointTestCommand } from './deliveries.ts';
import { endpointArgument, formatEvents, stateOf, toEndpointJson } from './view.ts';

export function endpointCommand(): Command {
  return new Command('endpoint')
    .description('Manage the receivers of outgoing webhooks.')
    .addCommand(addCommand())
    .addCommand(listCommand())
    .addCommand(endpointTestCommand())
    .addCommand(endpointLogCommand())
    .addCommand(endpointReplayCommand())
    .addCommand(rollCommand())
    .addCommand(disableCommand())
    .addCommand(enableCommand())
    .addCommand(removeCommand());
}

interface AddOptions extends OutputOptions {
  readonly events?: readonly EventType[];
  readonly description?: string;
  readonly reason?: string;
}

function addCommand(): Command {
  return newCommand(
    'add',
    'Add an endpoint that receives webhooks, and print its signing secret. The secret cannot be shown again. A running service uses the endpoint within five seconds.',
    [
      ['endpoint add https://crm.example.com/hooks/latchkey', 'Receive every event'],
      [
        'endpoint add https://crm.example.com/hooks --events license.created,license.expired',
        'Receive the creation and the expiry of licenses',
      ],
    ],
  )
    .argument('<url>', 'https:// or http:// URL of any host that this machine reaches')
    .option(
      '--events <types>',
      `event types, separated by commas: ${EVENT_TYPES.join(', ')} (default: all)`,
      readEventTypes,
    )
    .option('--description <text>', 'purpose of the endpoint', shortText)
    .addOption(reasonOption())
    .addOption(jsonOption())
    .action(add);
}

function readEventTypes(text: string): EventType[] {
  return text.split(',').map((part) => {
    const type = EVENT_TYPES.find((each) => each === part.trim());
    if (type !== undefined) return type;
    throw new InvalidArgumentError(`Expected one or more of ${EVENT_TYPES.join(', ')}.`);
  });
}

async function add(url: string, options: AddOptions): Promise<void> {
  const { events = [], description = null, reason = null } = options;
  await withContext(async (context) => {
    const order = { url, eventTypes: events, description };
    const { endpoint, secret } = await addEndpoint(context, order, {
      actor: currentActor(),
      reason,
    });
    printResult(options, { secret, ...toEndpointJson(endpoint) }, () =>
      formatSecret(secret, endpoint, 'The receiver verifies messages with it (Standard Webhooks).'),
    );
  });
}

function formatSecret(secret: string, endpoint: EndpointRecord, advice: string): string {
  const fields = formatFields([
    ['id', endpoint.id],
    ['url', endpoint.url],
    ['description', endpoint.description],
    ['events', formatEvents(endpoint)],
    ['state', stateOf(endpoint)],
  ]);
  return `${paint('bold', secret)}\n\n${fields}\n\nStore the secret in the receiver now: it cannot be shown again. ${advice}`;
}

function listCommand(): Command {
  return newCommand('list', 'List the endpoints, oldest first, without their secrets.', [
    ['endpoint list', 'Endpoints, their event types and their state'],
  ])
    .addOption(jsonOption())
    .action(list);
}

async function list(options: OutputOptions): Promise<void> {
  await withContext(async (context) => {
    const endpoints = await listEndpoints(context);
    printResult(options, endpoints.map(toEndpointJson), () =>
      formatRows(endpoints, 'No endpoints. Add one with latchkey endpoint add.', [
        ['id', (endpoint) => endpoint.id],
        ['url', (endpoint) => endpoint.url],
        ['events', formatEvents],
        ['state', stateOf],
        ['failing since', (endpoint) => endpoint.failingSince],
        ['description', (endpoint) => endpoint.description],
      ]),
    );
  });
}

interface ChangeOptions extends OutputOptions {
  readonly reason?: string;
}

interface RollOptions extends ChangeOptions {
  /** In milliseconds. */
  readonly overlap?: number;
}

const MAX_OVERLAP_MS = 30 * DAY_MS;

function rollCommand(): Command {
  return newCommand(
    'roll',
    'Replace the signing secret of an endpoint and print the new one. The new secret cannot be shown again. Messages are signed with both secrets for the overlap.',
    [
      ['endpoint roll https://crm.example.com/hooks', 'Sign with both secrets for a day'],
      ['endpoint roll https://crm.example.com/hooks --overlap 0', 'Invalidate the old one at once'],
    ],
  )
    .addArgument(endpointArgument())
    .addOption(overlapOption(MAX_OVERLAP_MS))
    .addOption(reasonOption())
    .addOption(jsonOption())
    .action(roll);
}

async function roll(idOrUrl: string, options: RollOptions): Promise<void> {
  const { overlap = DEFAULT_OVERLAP_MS, reason = null } = options;
  await withContext(async (context) => {
    const change = { idOrUrl, reason, actor: currentActor() };
    const { endpoint, secret } = await rollEndpoint(context, change, overlap);
    const { previousSecretUntil: until } = endpoint;
    const advice =
      until === null
        ? 'The old secret is invalid from now on.'
        : `Messages are also signed with the old secret until ${formatMoment(until)}.`;
    printResult(options, { secret, ...toEndpointJson(endpoint) }, () =>
      formatSecret(secret, endpoint, advice),
    );
  });
}

function disableCommand(): Command {
  const command = newCommand(
    'disable',
    'Stop deliveries to an endpoint. Pending messages wait until it is enabled; later events are not queued for it.',
    [
      [
        'endpoint disable https://crm.example.com/hooks --reason "server move"',
        'During maintenance of the receiver',
      ],
    ],
  );
  return addChange(command, disableEndpoint, 'Disabled');
}

function enableCommand(): Command {
  const command = newCommand(
    'enable',
    'Resume deliveries to an endpoint that an operator or repeated failures disabled.',
    [['endpoint enable https://crm.example.com/hooks', 'After a repair of the receiver']],
  );
  return addChange(command, enableEndpoint, 'Enabled');
}

function removeCommand(): Command {
  const command = newCommand('remove', 'Delete an endpoint and its secret permanently.', [
    ['endpoint remove https://crm.example.com/hooks --reason "obsolete"', 'Cannot be undone'],
  ]);
  return addChange(command, removeEndpoint, 'Removed');
}

function addChange(
  command: Command,
  change: (context: Context, change: NamedEndpointChange) => Promise<EndpointRecord>,
  done: string,
): Command {
  return command
    .addArgument(endpointArgument())
    .addOption(reasonOption())
    .addOption(jsonOption())
    .action((idOrUrl: string, options: ChangeOptions) =>
      withContext(async (context) => {
        const reason = options.reason ?? null;
        const endpoint = await change(context, { idOrUrl, reason, actor: currentActor() });
        printResult(
          options,
          toEndpointJson(endpoint),
          () => `${done} ${endpoint.url} (${endpoint.id}).`,
        );
      }),
    );
}
