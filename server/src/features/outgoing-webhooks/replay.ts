import type { PoolClient } from 'pg';

import type { Context } from '#server/context.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import type { EndpointChange } from './add-endpoint.ts';
import { requireEndpoint } from './change-endpoint.ts';
import { EndpointRefusal } from './endpoint-refusal.ts';
import { replayFailed, replayMessage } from './queries/deliveries.ts';

/** What is to be delivered anew: one message, or all of a time that failed for good. */
export type ReplaySubject = { readonly messageId: string } | { readonly failedSince: Date };

export interface Replay extends EndpointChange {
  readonly subject: ReplaySubject;
  /** Only to this endpoint, which for one message may be one that was not told of it; null: to all that were. */
  readonly idOrUrl: string | null;
}

const PAGE_SIZE = 5_000;

/**
 * Lets messages be delivered anew, under their own ids, so that a receiver which has one already can tell. Leaves an
 * audit row.
 * @returns how many deliveries there are to make
 * @throws EndpointRefusal when there is no such endpoint, or nothing to deliver of that message
 */
export async function replayDeliveries(ctx: Context, replay: Replay): Promise<number> {
  const { idOrUrl, subject } = replay;
  const endpointId = idOrUrl === null ? null : (await requireEndpoint(ctx, idOrUrl)).id;
  if ('failedSince' in subject) return replayAllFailed(ctx, replay, endpointId, subject);
  return inTransaction(ctx.pool, async (client) => {
    const { messageId } = subject;
    const count = await replayMessage(client, messageId, endpointId, ctx.clock.now());
    if (count === 0) throw nothingToReplay();
    await leaveAudit(ctx, client, replay, { subjectId: messageId, count, endpointId });
    return count;
  });
}

/** In pages, each in a transaction: a bad week of a busy endpoint is more than one statement should change. */
async function replayAllFailed(
  ctx: Context,
  replay: Replay,
  endpointId: string | null,
  { failedSince }: { readonly failedSince: Date },
): Promise<number> {
  let total = 0;
  for (;;) {
    const count = await inTransaction(ctx.pool, async (client) => {
      const now = ctx.clock.now();
      const page = await replayFailed(client, failedSince, endpointId, now, PAGE_SIZE);
      if (page > 0) {
        await leaveAudit(ctx, client, replay, { subjectId: 'failed', count: page, endpointId });
      }
      return page;
    });
    total += count;
    if (count < PAGE_SIZE) return total;
  }
}

async function leaveAudit(
  ctx: Context,
  client: PoolClient,
  { actor, reason }: Replay,
  about: { subjectId: string; count: number; endpointId: string | null },
): Promise<void> {
  const { subjectId, count, endpointId } = about;
  await insertAuditEntry(client, {
    actor,
    reason,
    occurredAt: ctx.clock.now(),
    action: 'endpoint.replay',
    subjectId,
    details: { count, endpoint_id: endpointId },
  });
}

function nothingToReplay(): EndpointRefusal {
  return new EndpointRefusal(
    'There is nothing to deliver: no such message is in the log, or its endpoints were removed.',
  );
}
