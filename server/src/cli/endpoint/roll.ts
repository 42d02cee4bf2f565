import { Command } from 'commander';
import {
  DEFAULT_OVERLAP_MS,
  rollEndpoint,
} from '#server/features/outgoing-webhooks/manage-endpoints.ts';
import type { EndpointRecord } from '#server/features/outgoing-webhooks/queries/endpoints.ts';
import { currentActor } from '../actor.ts';
import { describeWithSecret, endpointArgument, toEndpointJson } from './view.ts';
import { duration, jsonOption, shortText, withExamples } from '../option-values.ts';
import { type OutputOptions, formatMoment, printResult } from '../output.ts';
import { withContext } from '../with-context.ts';

interface RollOptions extends OutputOptions {
  /** In milliseconds. */
  readonly overlap?: number;
  readonly reason?: string;
}

const MAX_OVERLAP_MS = 30 * 86_400_000;

export function endpointRollCommand(): Command {
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
