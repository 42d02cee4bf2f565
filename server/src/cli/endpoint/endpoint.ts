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
import { duration, jsonOption, shortText, withExamples } from '../options.ts';
import { formatMoment, formatTable, type OutputOptions, printResult } from '../output.ts';
import { withContext } from '../with-context.ts';
import { endpointLogCommand, endpointReplayCommand, endpointTestCommand } from './deliveries.ts';
import {
  describeWithSecret,
  endpointArgument,
  formatEvents,
  stateOf,
  toEndpointJson,
} from './view.ts';

/** `latchkey endpoint …` */
export function endpointCommand(): Command {
  return new Command('endpoint')
    .description('The programs that are told of events, by outgoing webhooks.')
    .addCommand(endpointAddCommand())
    .addCommand(endpointListCommand())
    .addCommand(endpointTestCommand())
    .addCommand(endpointLogCommand())
    .addCommand(endpointReplayCommand())
    .addCommand(endpointRollCommand())
    .addCommand(endpointDisableCommand())
    .addCommand(endpointEnableCommand())
    .addCommand(endpointRemoveCommand());
}

interface AddOptions extends OutputOptions {
  readonly events?: readonly EventType[];
  readonly description?: string;
  readonly reason?: string;
}

function endpointAddCommand(): Command {
  const command = new Command('add')
    .description(
      'Register a URL that is told of events, and print its signing secret. It is shown this once. A service that is running knows of it within five seconds.',
    )
    .argument('<url>', 'https://… or http://…; any host that this machine reaches')
    .option(
      '--events <types>',
      `what it is told, with commas: ${EVENT_TYPES.join(', ')}; default: all`,
      readEventTypes,
    )
    .option('--description <text>', 'what it is for', shortText)
    .option('--reason <text>', 'why, for the audit log', shortText)
    .addOption(jsonOption())
    .action(add);
  return withExamples(command, [
    ['endpoint add https://crm.example.com/hooks/latchkey', 'Told of everything'],
    [
      'endpoint add https://crm.example.com/hooks --events license.created,license.expired',
      'Told when a license is made, and when it ends',
    ],
  ]);
}

function readEventTypes(text: string): EventType[] {
  return text.split(',').map((part) => {
    const type = EVENT_TYPES.find((each) => each === part.trim());
    if (type !== undefined) return type;
    throw new InvalidArgumentError(`Each must be one of ${EVENT_TYPES.join(', ')}.`);
  });
}

async function add(url: string, options: AddOptions): Promise<void> {
  const { events = [], description = null, reason = null } = options;
  await withContext(async (ctx) => {
    const order = { url, eventTypes: events, description };
    const { endpoint, secret } = await addEndpoint(ctx, order, { actor: currentActor(), reason });
    printResult(options, { secret, ...toEndpointJson(endpoint) }, () =>
      describeWithSecret(secret, endpoint, ADVICE),
    );
  });
}

const ADVICE =
  'Give the secret to the receiver now: it is not shown again. It verifies what it is sent with it, by Standard Webhooks.';

function endpointListCommand(): Command {
  const command = new Command('list')
    .description('List the endpoints, the oldest first; never their secrets.')
    .addOption(jsonOption())
    .action(list);
  return withExamples(command, [['endpoint list', 'Who is told what, and who is failing']]);
}

async function list(options: OutputOptions): Promise<void> {
  await withContext(async (ctx) => {
    const endpoints = await listEndpoints(ctx);
    printResult(options, endpoints.map(toEndpointJson), () =>
      endpoints.length === 0
        ? 'There is no endpoint yet; latchkey endpoint add registers one.'
        : formatTable(
            ['id', 'url', 'events', 'state', 'failing since', 'description'],
            endpoints.map((endpoint) => [
              endpoint.id,
              endpoint.url,
              formatEvents(endpoint),
              stateOf(endpoint),
              endpoint.failingSince,
              endpoint.description,
            ]),
          ),
    );
  });
}

interface RollOptions extends OutputOptions {
  /** In milliseconds. */
  readonly overlap?: number;
  readonly reason?: string;
}

const MAX_OVERLAP_MS = 30 * 86_400_000;

function endpointRollCommand(): Command {
  const command = new Command('roll')
    .description(
      'Give an endpoint a new signing secret, and print it. It is shown this once; for the overlap, messages are signed with both.',
    )
    .addArgument(endpointArgument())
    .option(
      '--overlap <time>',
      'how long the old secret signs too; default: 24h',
      duration(MAX_OVERLAP_MS),
    )
    .option('--reason <text>', 'why, for the audit log', shortText)
    .addOption(jsonOption())
    .action(roll);
  return withExamples(command, [
    ['endpoint roll https://crm.example.com/hooks', 'A day to change to the new secret'],
    [
      'endpoint roll https://crm.example.com/hooks --overlap 0',
      'The old one is good for nothing now',
    ],
  ]);
}

async function roll(idOrUrl: string, options: RollOptions): Promise<void> {
  const { overlap = DEFAULT_OVERLAP_MS, reason = null } = options;
  await withContext(async (ctx) => {
    const change = { idOrUrl, reason, actor: currentActor() };
    const { endpoint, secret } = await rollEndpoint(ctx, change, overlap);
    printResult(options, { secret, ...toEndpointJson(endpoint) }, () =>
      describeWithSecret(secret, endpoint, advise(endpoint)),
    );
  });
}

function advise({ previousSecretUntil }: EndpointRecord): string {
  const old =
    previousSecretUntil === null
      ? 'The old secret is good for nothing from now on.'
      : `The old secret signs too until ${formatMoment(previousSecretUntil)}.`;
  return `Give the secret to the receiver now: it is not shown again. ${old}`;
}

interface ChangeOptions extends OutputOptions {
  readonly reason?: string;
}

type Change = (ctx: Context, change: NamedEndpointChange) => Promise<EndpointRecord>;

function endpointDisableCommand(): Command {
  const command = changeCommand('disable', disableEndpoint, 'is disabled').description(
    'Tell an endpoint nothing more. What is on its way waits until it is enabled; what happens meanwhile it is never told.',
  );
  return withExamples(command, [
    ['endpoint disable https://crm.example.com/hooks --reason "moving"', 'For some hours'],
  ]);
}

function endpointEnableCommand(): Command {
  const command = changeCommand('enable', enableEndpoint, 'is told of events again').description(
    'Tell an endpoint again, also one that was disabled because it failed.',
  );
  return withExamples(command, [
    ['endpoint enable https://crm.example.com/hooks', 'After it was repaired'],
  ]);
}

function endpointRemoveCommand(): Command {
  const command = changeCommand('remove', removeEndpoint, 'is removed').description(
    'Forget an endpoint and its secret, for good.',
  );
  return withExamples(command, [
    ['endpoint remove https://crm.example.com/hooks --reason "given up"', 'No way back'],
  ]);
}

function changeCommand(name: string, change: Change, done: string): Command {
  return new Command(name)
    .addArgument(endpointArgument())
    .option('--reason <text>', 'why, for the audit log', shortText)
    .addOption(jsonOption())
    .action((idOrUrl: string, options: ChangeOptions) =>
      withContext(async (ctx) => {
        const reason = options.reason ?? null;
        const endpoint = await change(ctx, { idOrUrl, reason, actor: currentActor() });
        printResult(
          options,
          toEndpointJson(endpoint),
          () => `${endpoint.url} (${endpoint.id}) ${done}.`,
        );
      }),
    );
}
