import type { EventBatch, EventBatchResponse } from '@latchkey/contract';

import type { Context } from '#server/context.ts';
import { cutText } from '#server/lib/cut-text.ts';

import type { DropCounts, DropReason } from './rules/drop-reasons.ts';
import { storeRequests } from './event-batch.ts';
import type { EventsToStore, StoredCount } from './queries/store-events.ts';
import { correctTimes } from './rules/correct-times.ts';
import { judgeEvents, type GoodEvent } from './rules/judge-events.ts';

const MAX_APP_VERSION_CHARACTERS = 64;
const MAX_OS_VERSION_CHARACTERS = 128;

/**
 * A request of as many events fills a statement of its own; smaller ones travel together. Measured with 100 events to a
 * request: sent on their own they were stored a third faster than in company.
 */
const ALONE_FROM_EVENTS = 50;

/** What became of a batch of events. */
export interface Ingestion {
  readonly response: EventBatchResponse;
  /** Their sum is `response.dropped`. */
  readonly drops: DropCounts;
}

/**
 * Stores the events of one install and one session that nobody sent before, durably before the answer; all others are
 * dropped, with their reasons.
 */
export async function ingestEvents(ctx: Context, batch: EventBatch): Promise<Ingestion> {
  const { good, drops } = judgeEvents(batch.events, ctx.wantedNames);
  const { sharing, stored } = await store(ctx, batch, good);
  // Nothing of an install that does not share is looked at any further.
  const counts = sharing
    ? drops
    : new Map<DropReason, number>([['sharing_off', batch.events.length]]);
  if (sharing && good.length > stored) {
    counts.set('duplicate', (counts.get('duplicate') ?? 0) + good.length - stored);
  }
  ctx.eventCounts.add(stored, counts);
  return { response: { accepted: stored, dropped: batch.events.length - stored }, drops: counts };
}

async function store(
  ctx: Context,
  batch: EventBatch,
  good: readonly GoodEvent[],
): Promise<StoredCount> {
  const request = toRequest(batch, good, ctx.clock.now());
  if (good.length < ALONE_FROM_EVENTS) return ctx.batches.events.submit(request);
  const [count] = await ctx.gate.run(() => storeRequests(ctx, [request]));
  if (count === undefined) throw new Error('the statement said nothing of its request');
  return count;
}

function toRequest(batch: EventBatch, good: readonly GoodEvent[], now: Date): EventsToStore {
  const times = correctTimes(
    good.map(({ occurredAt }) => occurredAt),
    now,
  );
  const osVersion = batch.os_version ?? null;
  return {
    installId: batch.install_id,
    sessionId: batch.session_id,
    appVersion: cutText(batch.app_version, MAX_APP_VERSION_CHARACTERS),
    osVersion: osVersion === null ? null : cutText(osVersion, MAX_OS_VERSION_CHARACTERS),
    events: good.map(({ eventId, name, props }, index) => ({
      eventId,
      name,
      props,
      ...(times[index] ?? { occurredAt: now, toldAt: null }),
    })),
  };
}
