import { Command, InvalidArgumentError } from 'commander';
import { addEndpoint } from '#server/features/outgoing-webhooks/add-endpoint.ts';
import { EVENT_TYPES, type EventType } from '#server/features/outgoing-webhooks/rules/payload.ts';
import { currentActor } from '../actor.ts';
import { describeWithSecret, toEndpointJson } from './view.ts';
import { jsonOption, shortText, withExamples } from '../option-values.ts';
import { type OutputOptions, printResult } from '../output.ts';
import { withContext } from '../with-context.ts';

interface AddOptions extends OutputOptions {
  readonly events?: readonly EventType[];
  readonly description?: string;
  readonly reason?: string;
}

export function endpointAddCommand(): Command {
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
