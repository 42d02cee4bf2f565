import { Command } from 'commander';
import type { Context } from '#server/context.ts';
import { requireEndpoint } from '#server/features/outgoing-webhooks/manage-endpoints.ts';
import {
  listDeliveries,
  type LoggedDelivery,
} from '#server/features/outgoing-webhooks/queries/delivery-log.ts';
import { jsonOption, limitOption, shortText, withExamples } from '../option-values.ts';
import { type OutputOptions, formatTable, printResult } from '../output.ts';
import { withContext } from '../with-context.ts';

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
