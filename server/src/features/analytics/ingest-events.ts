import type { EventBatch, EventBatchResponse } from '@latchkey/contract';

import type { Clock } from '#server/clock.ts';
import { cutText } from '#server/lib/text.ts';

import type { EventCounts } from './event-counts.ts';
import type { EventQueue } from './event-queue.ts';
import type { EventsToStore } from './queries/events.ts';
import { correctTimes } from './rules/correct-times.ts';
import {
  selectEvents,
  type DropCounts,
  type DropReason,
  type NameFilter,
  type SelectedEvent,
} from './rules/select-events.ts';

const MAX_APP_VERSION_CHARACTERS = 64;
const MAX_OS_VERSION_CHARACTERS = 128;

export interface IngestionDependencies {
  readonly batches: { readonly events: EventQueue };
  readonly clock: Clock;
  readonly eventCounts: EventCounts;
  readonly wantedNames: NameFilter;
}

export interface Ingestion {
  readonly response: EventBatchResponse;
  /** Their sum is `response.dropped`. */
  readonly drops: DropCounts;
}

/** Stores the new events of one install and session durably before the response; all others are dropped with a reason. */
export async function ingestEvents(
  { batches, clock, eventCounts, wantedNames }: IngestionDependencies,
  batch: EventBatch,
): Promise<Ingestion> {
  const { selected, drops } = selectEvents(batch.events, wantedNames);
  const request = toRequest(batch, selected, clock.now());
  const { sharing, stored } = await batches.events.submit(request);
  const counts = sharing
    ? drops
    : new Map<DropReason, number>([['sharing_off', batch.events.length]]);
  if (sharing && selected.length > stored) {
    counts.set('duplicate', (counts.get('duplicate') ?? 0) + selected.length - stored);
  }
  eventCounts.add(stored, counts);
  return { response: { accepted: stored, dropped: batch.events.length - stored }, drops: counts };
}

function toRequest(batch: EventBatch, events: readonly SelectedEvent[], now: Date): EventsToStore {
  const times = correctTimes(
    events.map(({ occurredAt }) => occurredAt),
    now,
  );
  const osVersion = batch.os_version ?? null;
  return {
    installId: batch.install_id,
    sessionId: batch.session_id,
    appVersion: cutText(batch.app_version, MAX_APP_VERSION_CHARACTERS),
    osVersion: osVersion === null ? null : cutText(osVersion, MAX_OS_VERSION_CHARACTERS),
    events: events.map(({ eventId, name, props }, index) => ({
      eventId,
      name,
      props,
      ...(times[index] ?? { occurredAt: now.toISOString(), clientOccurredAt: null }),
    })),
  };
}
