import { Argument, Command } from 'commander';

import type { Context } from '#server/context.ts';
import {
  requireEndpoint,
  sendTestMessage,
} from '#server/features/outgoing-webhooks/manage-endpoints.ts';
import {
  listDeliveries,
  type LoggedDelivery,
} from '#server/features/outgoing-webhooks/queries/delivery-log.ts';
import {
  replayDeliveries,
  type ReplaySubject,
  type WaitingEndpoint,
} from '#server/features/outgoing-webhooks/replay.ts';

import { commandProcess } from '../command-process.ts';
import { currentActor } from '../actor.ts';
import { usageError } from '../command-error.ts';
import { jsonOption, limitOption, moment, shortText, withExamples } from '../options.ts';
import { formatTable, type OutputOptions, printResult } from '../output.ts';
import { withContext } from '../with-context.ts';
import { endpointArgument, stateOf } from './view.ts';

export function endpointTestCommand(): Command {
  const command = new Command('test')
    .description(
      'Send an endpoint a signed message of the type endpoint.test, once and now; exit code 1 when it does not take it.',
    )
    .addArgument(endpointArgument())
    .addOption(jsonOption())
    .action(test);
  return withExamples(command, [
    [
      'endpoint test https://crm.example.com/hooks',
      'Whether it is reached and takes the signature',
    ],
  ]);
}

async function test(idOrUrl: string, options: OutputOptions): Promise<void> {
  await withContext(async (ctx) => {
    const { endpoint, outcome } = await sendTestMessage(ctx, idOrUrl);
    const { delivered, status, durationMs, error } = outcome;
    const json = {
      endpoint_id: endpoint.id,
      delivered,
      status,
      duration_ms: durationMs,
      error,
    };
    printResult(options, json, () =>
      delivered
        ? `${endpoint.url} took it: ${status} after ${durationMs} ms.`
        : `${endpoint.url} did not take it: ${error} (after ${durationMs} ms).`,
    );
    if (!delivered) commandProcess().exitCode = 1;
  });
}

interface LogOptions extends OutputOptions {
  readonly endpoint?: string;
  readonly failed?: boolean;
  readonly limit: number;
}

const DEFAULT_LIMIT = 100;

export function endpointLogCommand(): Command {
  const command = new Command('log')
    .description('List what endpoints were told in the last 30 days, the newest first.')
    .option('--endpoint <endpoint>', 'only of this one, by its id or URL', shortText)
    .option('--failed', 'only what failed when it was tried last')
    .addOption(limitOption(DEFAULT_LIMIT))
    .addOption(jsonOption())
    .action(log);
  return withExamples(command, [
    ['endpoint log', 'What was told lately'],
    [
      'endpoint log --failed --endpoint https://crm.example.com/hooks',
      'What it did not take, and why',
    ],
  ]);
}

async function log(options: LogOptions): Promise<void> {
  await withContext(async (ctx) => {
    const deliveries = await listDeliveries(ctx.pool, {
      endpointId: await findId(ctx, options.endpoint),
      failedOnly: options.failed === true,
      limit: options.limit,
    });
    printResult(options, deliveries.map(toJson), () =>
      deliveries.length === 0 ? 'There is nothing.' : toTable(deliveries),
    );
  });
}

async function findId(ctx: Context, idOrUrl: string | undefined): Promise<string | null> {
  return idOrUrl === undefined ? null : (await requireEndpoint(ctx, idOrUrl)).id;
}

function toJson(delivery: LoggedDelivery) {
  return {
    message_id: delivery.messageId,
    type: delivery.type,
    license_id: delivery.licenseId,
    created_at: delivery.createdAt,
    endpoint_id: delivery.endpointId,
    state: delivery.state,
    attempts: delivery.attempts,
    next_attempt_at: delivery.nextAttemptAt,
    last_attempt_at: delivery.lastAttemptAt,
    last_status: delivery.lastStatus,
    last_duration_ms: delivery.lastDurationMs,
    last_error: delivery.lastError,
  };
}

function toTable(deliveries: readonly LoggedDelivery[]): string {
  return formatTable(
    ['message', 'type', 'when', 'endpoint', 'state', 'tries', 'ms', 'last answer', 'next try'],
    deliveries.map((delivery) => [
      delivery.messageId,
      delivery.type,
      delivery.createdAt,
      delivery.endpointId,
      delivery.state,
      delivery.attempts,
      delivery.lastDurationMs,
      delivery.lastError ?? delivery.lastStatus,
      delivery.nextAttemptAt,
    ]),
  );
}

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
