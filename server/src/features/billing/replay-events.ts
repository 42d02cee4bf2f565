import type { Logger } from 'pino';

import { isDatabaseUnavailable } from '#server/db/database-errors.ts';
import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import { applyFacts, type ApplyDependencies } from './apply-events.ts';
import { isDismissed } from './dismiss-events.ts';
import { recordFailure, UNREADABLE_TYPE } from './failed-events.ts';
import { MalformedEventError } from './providers/adapter.ts';
import { findAdapter } from './providers/adapters.ts';
import { listDueEvents, listEvents, type EventRecord } from './queries/event-list.ts';
import {
  updateEventOutcomes,
  type EventFilter,
  type EventOutcome,
  type EventStatus,
} from './queries/events.ts';
import { lockBilling } from './queries/ledger.ts';

export type ReplayDependencies = ApplyDependencies & { readonly log: Logger };

const PAGE_SIZE = 200;

/** Filter, actor and reason of a replay. */
interface Replay {
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

/**
 * Applies stored events again, oldest first, each in a transaction of its own, and writes an audit entry. Replaying an
 * applied event changes nothing. Dismissed events are replayed only by id.
 * @param onOutcome called after each event
 */
export async function replayEvents(
  deps: ReplayDependencies,
  { filter, actor, reason }: Replay,
  onOutcome: (outcome: ReplayOutcome) => void,
): Promise<void> {
  let replayed = 0;
  try {
    for await (const event of readEvents(deps, filter)) {
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
      await insertAuditEntry(deps.pool, {
        occurredAt: deps.clock.now(),
        actor,
        reason,
        action: 'webhook.replay',
        subjectId: filter.eventId ?? 'webhooks',
        details: { replayed, status: filter.status, provider: filter.provider },
      });
    }
  }
}

/** Retries deferred events that are due, at most `limit`, and returns their number. */
export async function retryDueEvents(deps: ReplayDependencies, limit: number): Promise<number> {
  const due = await listDueEvents(deps.pool, deps.clock.now(), limit);
  for (const event of due) await retryEvent(deps, event);
  return due.length;
}

async function* readEvents(
  { pool }: ReplayDependencies,
  filter: EventFilter,
): AsyncGenerator<EventRecord> {
  for (let after: EventRecord | null = null; ;) {
    const page: EventRecord[] = await listEvents(pool, filter, after, PAGE_SIZE);
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_SIZE) return;
    after = last;
  }
}

/** Applies one event; records the failure if that fails. */
async function retryEvent(deps: ReplayDependencies, event: EventRecord): Promise<EventOutcome> {
  try {
    return await inTransaction(deps.pool, (client) => applyAgain(deps, client, event));
  } catch (error) {
    // An outage of the database does not count as an attempt.
    if (isDatabaseUnavailable(error)) throw error;
    const { eventId, provider, type, occurredAt } = event;
    const attempt = { eventId, provider, type, occurredAt, attempts: event.attempts + 1 };
    const outcome = await inTransaction(deps.pool, (client) =>
      recordFailure(client, attempt, error, deps.clock.now()),
    );
    const { status } = outcome;
    deps.log.error(
      { event: 'payments.event_failed', err: error, eventId, provider, status },
      'could not apply stored payment event',
    );
    return outcome;
  }
}

async function applyAgain(
  deps: ReplayDependencies,
  client: Queryable,
  stored: EventRecord,
): Promise<EventOutcome> {
  await lockBilling(client);
  const { eventId, provider, type, raw, headers } = stored;
  if (raw === null) throw new MalformedEventError('its body was removed', stored);
  const adapter = findAdapter(provider);
  if (adapter === undefined) throw new MalformedEventError(`no adapter for ${provider}`, stored);
  if (type === UNREADABLE_TYPE) throw new MalformedEventError(describeUnreadable(stored), stored);
  const body: unknown = JSON.parse(raw.toString());
  const event = adapter.normalize(body, { headers, rawBody: raw });
  const [applied] = await applyFacts(deps, client, [{ ...event, eventId }]);
  if (applied === undefined) throw new Error('applying an event returned no outcome');
  const outcome = { ...applied, attempts: stored.attempts + 1 };
  await updateEventOutcomes(client, [outcome]);
  return outcome;
}

/** The message that its sender received, unless a dismissal replaced it. */
function describeUnreadable(stored: EventRecord): string {
  return stored.message === null || isDismissed(stored) ? 'It cannot be read' : stored.message;
}
