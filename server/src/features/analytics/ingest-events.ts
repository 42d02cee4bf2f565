import type { EventBatch, EventBatchResponse } from '@latchkey/contract';

import type { Context } from '#server/context.ts';
import { cutText } from '#server/lib/cut-text.ts';

import type { EventsToStore } from './queries/events.ts';
import { correctTimes } from './rules/correct-times.ts';
import {
  type DropCounts,
  type DropReason,
  judgeEvents,
  type GoodEvent,
} from './rules/select-events.ts';

const MAX_APP_VERSION_CHARACTERS = 64;
const MAX_OS_VERSION_CHARACTERS = 128;

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
  const request = toRequest(batch, good, ctx.clock.now());
  const { sharing, stored } = await ctx.batches.events.submit(request);
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
      ...(times[index] ?? { occurredAt: now.toISOString(), toldAt: null }),
    })),
  };
}
