import type { PoolClient } from 'pg';

import type { Context } from '#server/context.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import { EndpointError, type EndpointChange } from './add-endpoint.ts';
import { listEndpoints, requireEndpoint } from './manage-endpoints.ts';
import { replayFailed, replayMessage, type ReplayedDeliveries } from './queries/deliveries.ts';
import type { EndpointRecord } from './queries/endpoints.ts';

/** What is to be delivered anew: one message, or all of a time that failed for good. */
export type ReplaySubject = { readonly messageId: string } | { readonly failedSince: Date };

interface Replay extends EndpointChange {
  readonly subject: ReplaySubject;
  /** Only to this endpoint, which for one message may be one that was not told of it; null: to all that were. */
  readonly idOrUrl: string | null;
}

/** What was set to be delivered anew. */
interface Replayed {
  /** All deliveries, those that wait included. */
  readonly count: number;
  /** Endpoints that get theirs only once they are enabled. */
  readonly waiting: readonly WaitingEndpoint[];
}

/** An endpoint that is disabled, and how many deliveries wait for it. */
export interface WaitingEndpoint {
  readonly endpoint: EndpointRecord;
  readonly count: number;
}

const PAGE_SIZE = 5_000;

/**
 * Lets messages be delivered anew, under their own ids, so that a receiver which has one already can tell. Leaves an
 * audit row.
 * @throws EndpointError when there is no such endpoint, or nothing to deliver of that message
 */
export async function replayDeliveries(ctx: Context, replay: Replay): Promise<Replayed> {
  const { idOrUrl, subject } = replay;
  const endpointId = idOrUrl === null ? null : (await requireEndpoint(ctx, idOrUrl)).id;
  const replayed =
    'failedSince' in subject
      ? await replayAllFailed(ctx, replay, endpointId, subject)
      : await replayOne(ctx, replay, endpointId, subject);
  return { count: sum(replayed), waiting: findWaiting(await listEndpoints(ctx), replayed) };
}

async function replayOne(
  ctx: Context,
  replay: Replay,
  endpointId: string | null,
  { messageId }: { readonly messageId: string },
): Promise<ReplayedDeliveries[]> {
  return inTransaction(ctx.pool, async (client) => {
    const replayed = await replayMessage(client, messageId, endpointId, ctx.clock.now());
    if (replayed.length === 0) throw nothingToReplay();
    const about = { subjectId: messageId, count: sum(replayed), endpointId };
    await leaveAudit(ctx, client, replay, about);
    return replayed;
  });
}

/** In pages, each in a transaction: a bad week of a busy endpoint is more than one statement should change. */
async function replayAllFailed(
  ctx: Context,
  replay: Replay,
  endpointId: string | null,
  { failedSince }: { readonly failedSince: Date },
): Promise<ReplayedDeliveries[]> {
  const replayed: ReplayedDeliveries[] = [];
  for (;;) {
    const page = await inTransaction(ctx.pool, async (client) => {
      const now = ctx.clock.now();
      const each = await replayFailed(client, failedSince, endpointId, now, PAGE_SIZE);
      const about = { subjectId: 'failed', count: sum(each), endpointId };
      if (each.length > 0) await leaveAudit(ctx, client, replay, about);
      return each;
    });
    replayed.push(...page);
    if (sum(page) < PAGE_SIZE) return replayed;
  }
}

function sum(replayed: readonly ReplayedDeliveries[]): number {
  return replayed.reduce((total, { count }) => total + count, 0);
}

function findWaiting(
  endpoints: readonly EndpointRecord[],
  replayed: readonly ReplayedDeliveries[],
): WaitingEndpoint[] {
  return endpoints.flatMap((endpoint) => {
    const count = sum(replayed.filter(({ endpointId }) => endpointId === endpoint.id));
    return endpoint.disabledAt === null || count === 0 ? [] : [{ endpoint, count }];
  });
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

function nothingToReplay(): EndpointError {
  return new EndpointError(
    'There is nothing to deliver: no such message is in the log, or its endpoints were removed.',
  );
}
