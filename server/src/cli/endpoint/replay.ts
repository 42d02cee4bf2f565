import { Argument, Command } from 'commander';
import {
  replayDeliveries,
  type ReplaySubject,
  type WaitingEndpoint,
} from '#server/features/outgoing-webhooks/replay.ts';
import { currentActor } from '../actor.ts';
import { usageError } from '../command-error.ts';
import { stateOf } from './view.ts';
import { jsonOption, moment, shortText, withExamples } from '../option-values.ts';
import { type OutputOptions, printResult } from '../output.ts';
import { withContext } from '../with-context.ts';

interface ReplayOptions extends OutputOptions {
  readonly failed?: boolean;
  readonly since?: Date;
  readonly endpoint?: string;
  readonly reason?: string;
}

export function endpointReplayCommand(): Command {
  const command = new Command('replay')
    .description(
      'Deliver a message anew, or all that failed for good. A message keeps its id, by which a receiver tells that it has it already.',
    )
    .addArgument(
      new Argument('[message]', 'the id of a message, msg_…, as the log shows it').argParser(
        shortText,
      ),
    )
    .option('--failed', 'all that were tried in vain for three days; needs --since')
    .option('--since <date>', 'those of events since then', moment)
    .option('--endpoint <endpoint>', 'only to this one, by its id or URL', shortText)
    .option('--reason <text>', 'why, for the audit log', shortText)
    .addOption(jsonOption())
    .action(replay);
  return withExamples(command, [
    ['endpoint replay msg_0195…', 'One message, to all that were told of it'],
    ['endpoint replay --failed --since 2027-03-01', 'After a receiver was away for days'],
  ]);
}

async function replay(messageId: string | undefined, options: ReplayOptions): Promise<void> {
  const subject = readSubject(messageId, options);
  await withContext(async (ctx) => {
    const { count, waiting } = await replayDeliveries(ctx, {
      subject,
      idOrUrl: options.endpoint ?? null,
      actor: currentActor(),
      reason: options.reason ?? null,
    });
    const json = {
      replayed: count,
      waiting: waiting.map(({ endpoint, count: deliveries }) => ({
        endpoint_id: endpoint.id,
        url: endpoint.url,
        deliveries,
      })),
    };
    printResult(options, json, () => describe(count, waiting));
  });
}

function describe(count: number, waiting: readonly WaitingEndpoint[]): string {
  const held = waiting.reduce((total, each) => total + each.count, 0);
  const told = `${count - held} to be delivered by the running service.`;
  return [...(held > 0 && held === count ? [] : [told]), ...waiting.map(explainWait)].join('\n');
}

function explainWait({ endpoint, count }: WaitingEndpoint): string {
  const wait = count === 1 ? '1 waits' : `${count} wait`;
  return `${wait}: ${endpoint.url} is ${stateOf(endpoint)}. To have them delivered: latchkey endpoint enable ${endpoint.id}`;
}

function readSubject(
  messageId: string | undefined,
  { failed = false, since }: ReplayOptions,
): ReplaySubject {
  if (messageId !== undefined && !failed && since === undefined) return { messageId };
  if (messageId === undefined && failed && since !== undefined) return { failedSince: since };
  throw usageError('Say what: either the id of a message, or --failed and --since.');
}
