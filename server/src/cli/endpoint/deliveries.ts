/** `latchkey endpoint test`, `log` and `replay`: the deliveries of outgoing webhooks. */
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
import { command } from '../command.ts';
import { usageError } from '../command-error.ts';
import { limitOption, timestamp, reasonOption, shortText } from '../options.ts';
import { flag, option, optionalArgument } from '../parameters.ts';
import { formatRows } from '../table.ts';
import { contextCommand, withContext } from '../with-context.ts';
import { endpointArgument, stateOf } from './view.ts';

export const testCommand = contextCommand({
  name: 'test',
  description:
    'Send a signed message of type endpoint.test to an endpoint once. The exit code is 1 if the endpoint does not accept it.',
  examples: {
    'endpoint test https://crm.example.com/hooks':
      'Check that the receiver is reachable and accepts the signature',
  },
  parameters: [endpointArgument],
  async run(context, { endpoint: idOrUrl }) {
    const { endpoint, outcome } = await sendTestMessage(context, idOrUrl, currentActor());
    const { delivered, status, durationMs, error } = outcome;
    return {
      json: { endpoint_id: endpoint.id, delivered, status, duration_ms: durationMs, error },
      text: delivered
        ? `${endpoint.url} accepted the message: ${status} after ${durationMs} ms.`
        : `${endpoint.url} did not accept the message: ${error} (after ${durationMs} ms).`,
      failed: !delivered,
    };
  },
});

export const logCommand = contextCommand({
  name: 'log',
  description: 'List the deliveries of the last 30 days, newest first.',
  examples: {
    'endpoint log': 'Latest deliveries to every endpoint',
    'endpoint log --failed --endpoint https://crm.example.com/hooks':
      'Failed deliveries to one endpoint, and why',
  },
  parameters: [
    option('--endpoint <endpoint>', 'only this endpoint, by its id or URL', shortText),
    flag('--failed', 'only deliveries whose last attempt failed'),
    limitOption(100),
  ],
  async run(context, { endpoint, failed: failedOnly, limit }) {
    const endpointId = endpoint === null ? null : (await requireEndpoint(context, endpoint)).id;
    const deliveries = await listDeliveries(context.pool, { endpointId, failedOnly, limit });
    const text = formatRows(deliveries, 'No deliveries.', [
      ['message', (delivery) => delivery.messageId],
      ['type', (delivery) => delivery.type],
      ['created', (delivery) => delivery.createdAt],
      ['endpoint', (delivery) => delivery.endpointId],
      ['state', (delivery) => delivery.state],
      ['attempts', (delivery) => delivery.attempts],
      ['ms', (delivery) => delivery.lastDurationMs],
      ['last result', (delivery) => delivery.lastError ?? delivery.lastStatus],
      ['next attempt', (delivery) => delivery.nextAttemptAt],
    ]);
    return { json: deliveries.map(toDeliveryJson), text };
  },
});

function toDeliveryJson(delivery: LoggedDelivery) {
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

export const replayCommand = command({
  name: 'replay',
  description:
    'Deliver a message again, or every message that exhausted its retries. A message keeps its id, so that receivers can recognize duplicates.',
  examples: {
    'endpoint replay msg_0195…': 'Deliver one message to all its endpoints again',
    'endpoint replay --failed --since 2027-03-01': 'After a receiver was down for days',
  },
  parameters: [
    optionalArgument('[message]', 'id of a message (msg_…) from endpoint log', shortText),
    flag('--failed', 'every message that exhausted its retries; needs --since'),
    option('--since <time>', 'with --failed: events since a date or date-time in UTC', timestamp),
    option('--endpoint <endpoint>', 'only to this endpoint, by its id or URL', shortText),
    reasonOption,
  ],
  async run({ message, failed, since, endpoint: idOrUrl, reason }) {
    const subject = readSubject(message, failed, since);
    const replay = { subject, idOrUrl, actor: currentActor(), reason };
    const { count, waiting } = await withContext((context) => replayDeliveries(context, replay));
    return {
      json: {
        replayed: count,
        waiting: waiting.map(({ endpoint: { id, url }, count: deliveries }) => ({
          endpoint_id: id,
          url,
          deliveries,
        })),
      },
      text: formatReplay(count, waiting),
    };
  },
});

function readSubject(messageId: string | null, failed: boolean, since: Date | null): ReplaySubject {
  if (messageId !== null && !failed && since === null) return { messageId };
  if (messageId === null && failed && since !== null) return { failedSince: since };
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
