import type { Queryable } from '#server/db/statement.ts';
import { isDatabaseUnavailable } from '#server/db/database-errors.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import { applyFacts, type ApplyContext } from './apply-events.ts';
import { recordFailure, UNREADABLE_TYPE } from './failed-events.ts';
import { MalformedEventError } from './providers/adapter.ts';
import { findAdapter } from './providers/adapters.ts';
import {
  listDueEvents,
  listEvents,
  updateEventOutcomes,
  type EventFilter,
  type EventOutcome,
  type EventRecord,
  type EventStatus,
} from './queries/events.ts';
import { lockBilling } from './queries/ledger.ts';
import { isDismissed } from './dismiss-events.ts';

const PAGE_SIZE = 200;

/** Who replays events, and why. */
interface ReplayOrder {
  readonly filter: EventFilter;
  readonly actor: string;
  readonly reason: string;
}

/** What became of a replay; `removed`: the event has no body any more, and nothing was done. */
export type ReplayOutcome = Omit<EventOutcome, 'status'> & {
  readonly status: EventStatus | 'removed';
};

const REMOVED =
  'Its body was removed, after LATCHKEY_BILLING_RAW_KEEP_DAYS or with its customer: it cannot be replayed.';

/**
 * Applies kept events again, the oldest first, each in a transaction of its own; what was applied before changes nothing.
 * What an operator dismissed is taken only by its id. An audit row tells who asked.
 * @param onOutcome told of each event as it is done
 */
export async function replayEvents(
  ctx: ApplyContext,
  { filter, actor, reason }: ReplayOrder,
  onOutcome: (outcome: ReplayOutcome) => void,
): Promise<void> {
  let replayed = 0;
  try {
    for await (const event of readEvents(ctx, filter)) {
      if (filter.eventId === null && isDismissed(event)) continue;
      if (event.raw === null) {
        onOutcome({ ...event, status: 'removed', message: REMOVED });
        continue;
      }
      onOutcome(await retryEvent(ctx, event));
      replayed += 1;
    }
  } finally {
    // Also when a later one was not reached: what was done is told.
    if (replayed > 0) {
      await insertAuditEntry(ctx.pool, {
        occurredAt: ctx.clock.now(),
        actor,
        reason,
        action: 'webhook.replay',
        subjectId: filter.eventId ?? 'webhooks',
        details: { replayed, status: filter.status, provider: filter.provider },
      });
    }
  }
}

/**
 * Tries deferred events whose time has come, and gives how many there were; fewer than the limit: that was all.
 * @param limit how many at most
 */
export async function retryDueEvents(ctx: ApplyContext, limit: number): Promise<number> {
  const due = await listDueEvents(ctx.pool, ctx.clock.now(), limit);
  for (const event of due) await retryEvent(ctx, event);
  return due.length;
}

async function* readEvents(ctx: ApplyContext, filter: EventFilter): AsyncGenerator<EventRecord> {
  for (let after: EventRecord | null = null; ;) {
    const page: EventRecord[] = await listEvents(ctx.pool, filter, after, PAGE_SIZE);
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_SIZE) return;
    after = last;
  }
}

/** Applies one event; when that fails, it is written down with the time of the next try. */
async function retryEvent(ctx: ApplyContext, event: EventRecord): Promise<EventOutcome> {
  try {
    return await inTransaction(ctx.pool, (client) => applyAgain(ctx, client, event));
  } catch (error) {
    // A database that is away is no fault of the event's.
    if (isDatabaseUnavailable(error)) throw error;
    const { eventId, provider, type, occurredAt, attempts } = event;
    const failed = { eventId, provider, type, occurredAt, attempts: attempts + 1 };
    const outcome = await inTransaction(ctx.pool, (client) =>
      recordFailure(ctx, client, failed, error),
    );
    const { status } = outcome;
    ctx.log.error({ err: error, eventId, provider, status }, 'a kept event could not be applied');
    return outcome;
  }
}

async function applyAgain(
  ctx: ApplyContext,
  client: Queryable,
  kept: EventRecord,
): Promise<EventOutcome> {
  await lockBilling(client);
  const { eventId, provider, type, raw, headers } = kept;
  if (raw === null) throw new MalformedEventError('its body was removed', kept);
  const adapter = findAdapter(provider);
  if (adapter === undefined) throw new MalformedEventError(`no adapter for ${provider}`, kept);
  if (type === UNREADABLE_TYPE) throw new MalformedEventError(explainUnreadable(kept), kept);
  const body: unknown = JSON.parse(raw.toString());
  const event = adapter.normalize(body, { headers, rawBody: raw });
  const [applied] = await applyFacts(ctx, client, [{ ...event, eventId }]);
  if (applied === undefined) throw new Error('an event was applied without an outcome');
  const outcome = { ...applied, attempts: kept.attempts + 1 };
  await updateEventOutcomes(client, [outcome]);
  return outcome;
}

/** What its sender was told, as long as nobody dismissed it. */
function explainUnreadable(kept: EventRecord): string {
  return kept.message === null || isDismissed(kept) ? 'It cannot be read' : kept.message;
}
