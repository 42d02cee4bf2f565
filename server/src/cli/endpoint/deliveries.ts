/** `latchkey endpoint test`, `log` and `replay`: the deliveries of outgoing webhooks. */
import type { Command } from 'commander';

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

import { currentActor } from '../actor.ts';
import { usageError } from '../command-error.ts';
import { commandProcess } from '../command-process.ts';
import {
  jsonOption,
  limitOption,
  moment,
  newCommand,
  reasonOption,
  shortText,
} from '../options.ts';
import { type OutputOptions, printResult } from '../output.ts';
import { formatRows } from '../table.ts';
import { withContext } from '../with-context.ts';
import { endpointArgument, stateOf } from './view.ts';

export function endpointTestCommand(): Command {
  return newCommand(
    'test',
    'Send a signed message of type endpoint.test to an endpoint once. The exit code is 1 if the endpoint does not accept it.',
    [
      [
        'endpoint test https://crm.example.com/hooks',
        'Check that the receiver is reachable and accepts the signature',
      ],
    ],
  )
    .addArgument(endpointArgument())
    .addOption(jsonOption())
    .action(test);
}

async function test(idOrUrl: string, options: OutputOptions): Promise<void> {
  await withContext(async (context) => {
    const { endpoint, outcome } = await sendTestMessage(context, idOrUrl);
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
        ? `${endpoint.url} accepted the message: ${status} after ${durationMs} ms.`
        : `${endpoint.url} did not accept the message: ${error} (after ${durationMs} ms).`,
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
  return newCommand('log', 'List the deliveries of the last 30 days, newest first.', [
    ['endpoint log', 'Latest deliveries to every endpoint'],
    [
      'endpoint log --failed --endpoint https://crm.example.com/hooks',
      'Failed deliveries to one endpoint, and why',
    ],
  ])
    .option('--endpoint <endpoint>', 'only this endpoint, by its id or URL', shortText)
    .option('--failed', 'only deliveries whose last attempt failed')
    .addOption(limitOption(DEFAULT_LIMIT))
    .addOption(jsonOption())
    .action(log);
}

async function log(options: LogOptions): Promise<void> {
  await withContext(async (context) => {
    const { endpoint } = options;
    const deliveries = await listDeliveries(context.pool, {
      endpointId: endpoint === undefined ? null : (await requireEndpoint(context, endpoint)).id,
      failedOnly: options.failed === true,
      limit: options.limit,
    });
    printResult(options, deliveries.map(deliveryToJson), () =>
      formatRows(deliveries, 'No deliveries.', [
        ['message', (delivery) => delivery.messageId],
        ['type', (delivery) => delivery.type],
        ['created', (delivery) => delivery.createdAt],
        ['endpoint', (delivery) => delivery.endpointId],
        ['state', (delivery) => delivery.state],
        ['attempts', (delivery) => delivery.attempts],
        ['ms', (delivery) => delivery.lastDurationMs],
        ['last result', (delivery) => delivery.lastError ?? delivery.lastStatus],
        ['next attempt', (delivery) => delivery.nextAttemptAt],
      ]),
    );
  });
}

function deliveryToJson(delivery: LoggedDelivery) {
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

interface ReplayOptions extends OutputOptions {
  readonly failed?: boolean;
  readonly since?: Date;
  readonly endpoint?: string;
  readonly reason?: string;
}

export function endpointReplayCommand(): Command {
  return newCommand(
    'replay',
    'Deliver a message again, or every message that exhausted its retries. A message keeps its id, so that receivers can recognize duplicates.',
    [
      ['endpoint replay msg_0195…', 'Deliver one message to all its endpoints again'],
      ['endpoint replay --failed --since 2027-03-01', 'After a receiver was down for days'],
    ],
  )
    .argument('[message]', 'id of a message (msg_…) from endpoint log', shortText)
    .option('--failed', 'every message that exhausted its retries; needs --since')
    .option('--since <time>', 'with --failed: events since a date or date-time in UTC', moment)
    .option('--endpoint <endpoint>', 'only to this endpoint, by its id or URL', shortText)
    .addOption(reasonOption())
    .addOption(jsonOption())
    .action(replay);
}

async function replay(messageId: string | undefined, options: ReplayOptions): Promise<void> {
  const subject = readSubject(messageId, options);
  await withContext(async (context) => {
    const { count, waiting } = await replayDeliveries(context, {
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
    printResult(options, json, () => formatReplay(count, waiting));
  });
}

function readSubject(
  messageId: string | undefined,
  { failed = false, since }: ReplayOptions,
): ReplaySubject {
  if (messageId !== undefined && !failed && since === undefined) return { messageId };
  if (messageId === undefined && failed && since !== undefined) return { failedSince: since };
  throw usageError('Name either the id of a message, or --failed together with --since.');
}

function formatReplay(count: number, waiting: readonly WaitingEndpoint[]): string {
  const held = waiting.reduce((total, each) => total + each.count, 0);
  const lines = waiting.map(
    ({ endpoint, count: deliveries }) =>
      `Waiting: ${deliveries}, since ${endpoint.url} is ${stateOf(endpoint)}. Deliver with latchkey endpoint enable ${endpoint.id}.`,
  );
  const queued = count - held;
  return [...(queued > 0 || held === 0 ? [`Queued: ${queued}.`] : []), ...lines].join('\n');
}
