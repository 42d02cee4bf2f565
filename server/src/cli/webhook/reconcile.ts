import { Command, Option } from 'commander';

import type { Context } from '#server/context.ts';
import { PaddleApiError } from '#server/features/billing/providers/paddle/paddle-api.ts';
import { reconcilePaddle, type Reconciliation } from '#server/features/billing/reconcile.ts';

import { currentActor } from '../actor.ts';
import { failed } from '../command-error.ts';
import { jsonOption, moment, withExamples } from '../option-values.ts';
import { type OutputOptions, formatTable, printResult } from '../output.ts';
import { withProgress } from '../progress.ts';
import { withContext } from '../with-context.ts';

interface ReconcileOptions extends OutputOptions {
  readonly since?: Date;
}

export function webhookReconcileCommand(): Command {
  const command = new Command('reconcile')
    .description(
      "Compare Paddle's own log of events with those that arrived, and apply the missed ones; the service does it every hour. Events of the last hour are left to their webhooks.",
    )
    .addOption(
      new Option(
        '--since <date>',
        'from then on, and not from where the last comparison ended',
      ).argParser(moment),
    )
    .addOption(jsonOption())
    .action(reconcile);
  return withExamples(command, [
    ['webhook reconcile', 'Now, from where the last comparison ended'],
    ['webhook reconcile --since 2027-03-01', 'Everything since that day, after a long outage'],
  ]);
}

async function reconcile(options: ReconcileOptions): Promise<void> {
  await withContext(async (ctx) => {
    if (ctx.paddleApi === null) {
      throw failed(
        "Paddle's log cannot be read without a key for its interface: set LATCHKEY_PADDLE_API_KEY.",
      );
    }
    const found = await compare(ctx, options.since ?? null);
    if (found === null) {
      throw failed(
        'No event of Paddle has been received yet, so it is not known where to begin: say it with --since.',
      );
    }
    printResult(options, toJson(found), () => describe(found));
    if (found.repaired.some(({ status }) => status === 'deferred')) process.exitCode = 1;
  });
}

async function compare(ctx: Context, since: Date | null): Promise<Reconciliation | null> {
  const order = { actor: currentActor(), since, unlimited: true };
  try {
    return await withProgress('events compared', (report) =>
      reconcilePaddle(ctx, { ...order, onCompared: report }),
    );
  } catch (error) {
    if (!(error instanceof PaddleApiError)) throw error;
    const why = `Paddle's log cannot be read: ${error.message}.`;
    throw failed(`${why} What was applied until then stays applied.`, { cause: error });
  }
}

function toJson({ compared, repaired }: Reconciliation) {
  return {
    compared,
    repaired: repaired.map(({ eventId, type, status }) => ({ event_id: eventId, type, status })),
  };
}

function describe({ compared, repaired }: Reconciliation): string {
  const head = `${compared} ${compared === 1 ? 'event' : 'events'} compared`;
  if (repaired.length === 0) return `${head}; none was missed.`;
  const rows = repaired.map(({ eventId, type, status }) => [eventId, type, status]);
  return `${head}; ${repaired.length} had never arrived:\n${formatTable(['event', 'type', 'status'], rows)}`;
}
