import { Command } from 'commander';
import type { Context } from '#server/context.ts';
import {
  disableEndpoint,
  enableEndpoint,
  removeEndpoint,
  type NamedEndpointChange,
} from '#server/features/outgoing-webhooks/manage-endpoints.ts';
import type { EndpointRecord } from '#server/features/outgoing-webhooks/queries/endpoints.ts';
import { currentActor } from '../actor.ts';
import { endpointArgument, toEndpointJson } from './view.ts';
import { jsonOption, shortText, withExamples } from '../option-values.ts';
import { type OutputOptions, printResult } from '../output.ts';
import { withContext } from '../with-context.ts';

interface ChangeOptions extends OutputOptions {
  readonly reason?: string;
}

type Change = (ctx: Context, change: NamedEndpointChange) => Promise<EndpointRecord>;

export function endpointDisableCommand(): Command {
  const command = changeCommand('disable', disableEndpoint, 'is disabled').description(
    'Tell an endpoint nothing more. What is on its way waits until it is enabled; what happens meanwhile it is never told.',
  );
  return withExamples(command, [
    ['endpoint disable https://crm.example.com/hooks --reason "moving"', 'For some hours'],
  ]);
}

export function endpointEnableCommand(): Command {
  const command = changeCommand('enable', enableEndpoint, 'is told of events again').description(
    'Tell an endpoint again, also one that was disabled because it failed.',
  );
  return withExamples(command, [
    ['endpoint enable https://crm.example.com/hooks', 'After it was repaired'],
  ]);
}

export function endpointRemoveCommand(): Command {
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
