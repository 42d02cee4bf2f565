/** Operators replay and dismiss stored events; the service retries deferred ones. */
import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import { isDatabaseUnavailable } from '#server/db/database-errors.ts';
import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { insertAuditEntry, type AuditEntry } from '../audit/queries.ts';
import { applyFacts, listReferences } from './apply-events.ts';
import { requirePast } from './check-clock.ts';
import type { ApplyDependencies } from './dependencies.ts';
import { recordFailure, UNREADABLE_TYPE } from './failed-events.ts';
import { MalformedEventError } from './providers/adapter.ts';
import { findSourceAdapter } from './providers/adapters.ts';
import {
  listDueEvents,
  listEvents,
  type EventPosition,
  type EventRecord,
} from './queries/event-list.ts';
import {
  dismissUnappliedEvents,
  updateEventOutcomes,
  type EventFilter,
  type EventOutcome,
  type EventStatus,
} from './queries/events.ts';
import { lockBilling } from './queries/ledger.ts';
import { insertRevenueDue } from './queries/revenue-due.ts';
import { DISMISSED_PREFIX } from './rules/event-state.ts';

const PAGE_SIZE = 200;

/** The events that an operator selects, and why. */
export interface EventSelection {
  readonly filter: EventFilter;
  readonly actor: string;
  readonly reason: string;
}

/** The outcome of a replayed event; `removed`: its body is gone, and nothing was done. */
export type ReplayOutcome = Omit<EventOutcome, 'status'> & {
  readonly status: EventStatus | 'removed';
};

const REMOVED =
  'Its body was removed, after LATCHKEY_BILLING_RAW_KEEP_DAYS or with its customer: it cannot be replayed.';

/** A part of the selected events. */
interface ReplayPart {
  /** The last event of the part before; null: from the oldest one. */
  readonly after: EventPosition | null;
  readonly limit: number;
}

/**
 * Applies stored events again, oldest first, each in a transaction of its own, and writes an audit entry. Replaying an
 * applied event changes nothing. Dismissed events are replayed only by id.
 * @param onOutcome called after each event
 * @param part default: all
 * @returns the last event of the part; null if no event follows
 */
export async function replayEvents(
  deps: ApplyDependencies,
  selection: EventSelection,
  onOutcome: (outcome: ReplayOutcome) => void,
  { after, limit }: ReplayPart = { after: null, limit: Number.POSITIVE_INFINITY },
): Promise<EventPosition | null> {
  const { filter } = selection;
  let replayed = 0;
  let seen = 0;
  let last: EventPosition | null = null;
  try {
    const pageSize = Math.min(PAGE_SIZE, limit + 1);
    for await (const event of readEvents(deps, filter, after, pageSize)) {
      if (seen === limit) return last;
      seen += 1;
      last = event;
      if (filter.eventId === null && isDismissed(event)) continue;
      if (event.raw === null) {
        onOutcome({ ...event, status: 'removed', message: REMOVED });
        continue;
      }
      onOutcome(await retryEvent(deps, event));
      replayed += 1;
    }
  } finally {
    // Also after an error: the events before it were replayed.
    if (replayed > 0) {
      const entry = toAuditEntry(selection, deps.clock.now(), 'webhook.replay', { replayed });
      await insertAuditEntry(deps.pool, entry);
    }
  }
  return null;
}

/** Retries deferred events that are due, at most `limit` and none after the signal, and returns their number. */
export async function retryDueEvents(
  deps: ApplyDependencies,
  limit: number,
  signal?: AbortSignal,
): Promise<number> {
  const due = await listDueEvents(deps.pool, deps.clock.now(), limit);
  let retried = 0;
  for (const event of due) {
    if (signal?.aborted === true) break;
    await retryEvent(deps, event);
    retried += 1;
  }
  return retried;
}

/**
 * Sets events that were not applied to ignored, so that they are neither counted nor retried, and writes an audit entry.
 * The events remain stored and can be replayed by id.
 * @returns their number; if 0 there is no audit entry
 */
export async function dismissEvents(
  { pool, clock }: { readonly pool: Pool; readonly clock: Clock },
  selection: EventSelection,
): Promise<number> {
  return inTransaction(pool, async (client) => {
    const message = `${DISMISSED_PREFIX}${selection.reason}`;
    const dismissed = await dismissUnappliedEvents(client, selection.filter, message);
    if (dismissed === 0) return 0;
    const entry = toAuditEntry(selection, clock.now(), 'webhook.dismiss', { dismissed });
    await insertAuditEntry(client, entry);
    return dismissed;
  });
}

/** Whether an operator dismissed the event. */
function isDismissed({ status, message }: EventRecord): boolean {
  return status === 'ignored' && message?.startsWith(DISMISSED_PREFIX) === true;
}

function toAuditEntry(
  { filter, actor, reason }: EventSelection,
  occurredAt: Date,
  action: string,
  count: Readonly<Record<string, number>>,
): AuditEntry {
  const { eventId, status, provider } = filter;
  const details = { ...count, status, provider };
  return { occurredAt, actor, reason, action, subjectId: eventId ?? 'webhooks', details };
}

async function* readEvents(
  { pool }: ApplyDependencies,
  filter: EventFilter,
  after: EventPosition | null,
  pageSize: number,
): AsyncGenerator<EventRecord> {
  for (let position = after; ;) {
    const page: EventRecord[] = await listEvents(pool, filter, position, pageSize);
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return;
    position = last;
  }
}

/** Applies one event; records the failure if that fails. */
async function retryEvent(deps: ApplyDependencies, event: EventRecord): Promise<EventOutcome> {
  const attempts = event.attempts + 1;
  try {
    return await inTransaction(deps.pool, (client) => applyAgain(deps, client, event, attempts));
  } catch (error) {
    // An outage of the database does not count as an attempt.
    if (isDatabaseUnavailable(error)) throw error;
    const outcome = await inTransaction(deps.pool, (client) =>
      recordFailure(client, event, attempts, error, deps.clock.now()),
    );
    const { eventId, provider, status } = outcome;
    deps.log.error(
      { event: 'payments.event_failed', err: error, eventId, provider, status },
      'could not apply stored payment event',
    );
    return outcome;
  }
}

async function applyAgain(
  deps: ApplyDependencies,
  client: Queryable,
  stored: EventRecord,
  attempts: number,
): Promise<EventOutcome> {
  await lockBilling(client);
  const { eventId, provider, type, raw, headers } = stored;
  if (raw === null) throw new MalformedEventError('its body was removed');
  const adapter = findSourceAdapter(provider);
  if (adapter === undefined) throw new MalformedEventError(`no adapter for ${provider}`);
  if (type === UNREADABLE_TYPE) throw new MalformedEventError(describeUnreadable(stored));
  const body: unknown = JSON.parse(raw.toString());
  const event = adapter.normalize(body, { headers, rawBody: raw });
  const now = deps.clock.now();
  requirePast(event, now > stored.receivedAt ? now : stored.receivedAt);
  const [applied] = await applyFacts(deps, client, [{ ...event, eventId, provider }]);
  await insertRevenueDue(client, listReferences({ provider, facts: event.facts }));
  if (applied === undefined) throw new Error('applying an event returned no outcome');
  // The attempt of a look-up is counted when it fails.
  const isAsked = event.requiresLookUp === true;
  const outcome = { ...applied, attempts: isAsked ? stored.attempts : attempts };
  await updateEventOutcomes(client, [outcome]);
  return outcome;
}

/** The message that its sender received, unless a dismissal replaced it. */
function describeUnreadable(stored: EventRecord): string {
  return stored.message === null || isDismissed(stored) ? 'It cannot be read' : stored.message;
}
