/** Operators replay and dismiss payment events in the operator interface. */
import type {
  PaymentDismissRequest,
  PaymentReplay,
  PaymentReplayRequest,
} from '@latchkey/contract';

import { conflict, invalidRequest } from '#server/errors.ts';
import { readTimeFilter } from '#server/lib/read-time-filter.ts';
import { isRecord } from '#server/lib/unknown-values.ts';

import type { ApplyDependencies } from './dependencies.ts';
import type { EventPosition } from './queries/event-list.ts';
import type { EventFilter } from './queries/events.ts';
import { eventState } from './rules/event-state.ts';
import { requireEvent, showPaymentEvent, type PaymentEventKey } from './show-payment-event.ts';
import { dismissEvents, replayEvents, type ReplayOutcome } from './stored-events.ts';

/** At some 20 ms each, a call takes a second. */
const EVENTS_PER_CALL = 50;

/** Who changes events, and why. */
interface EventChange {
  readonly actor: string;
  readonly reason: string;
}

/** Replays one event. @throws notFound (404) */
export async function replayOne(
  deps: ApplyDependencies,
  key: PaymentEventKey,
  change: EventChange,
): Promise<PaymentReplay> {
  await requireEvent(deps, key);
  const outcomes: ReplayOutcome[] = [];
  const selection = { ...change, filter: toKeyFilter(key) };
  await replayEvents(deps, selection, (outcome) => outcomes.push(outcome));
  return { outcomes: outcomes.map(viewOutcome), next_cursor: null };
}

/** Replays the next events of a filter, the oldest first. @throws invalidRequest (422) for a cursor that is not one */
export async function replayNext(
  deps: ApplyDependencies,
  request: PaymentReplayRequest,
  actor: string,
): Promise<PaymentReplay> {
  const { cursor, reason } = request;
  const outcomes: ReplayOutcome[] = [];
  const part = {
    after: cursor === undefined ? null : readCursor(cursor),
    limit: EVENTS_PER_CALL,
  };
  const selection = { actor, reason, filter: toFilter(request) };
  const last = await replayEvents(deps, selection, (outcome) => outcomes.push(outcome), part);
  return {
    outcomes: outcomes.map(viewOutcome),
    next_cursor: last === null ? null : writeCursor(last),
  };
}

/** Dismisses one event. @throws notFound (404), conflict (409) if it is neither failed nor deferred */
export async function dismissOne(
  deps: ApplyDependencies,
  key: PaymentEventKey,
  change: EventChange,
): Promise<number> {
  const dismissed = await dismissEvents(deps, { ...change, filter: toKeyFilter(key) });
  if (dismissed === 0) throw conflict(await showPaymentEvent(deps, key));
  return dismissed;
}

/** Dismisses all events of a filter and returns their number. */
export function dismissAll(
  deps: ApplyDependencies,
  request: PaymentDismissRequest,
  actor: string,
): Promise<number> {
  return dismissEvents(deps, { actor, reason: request.reason, filter: toFilter(request) });
}

function toKeyFilter({ provider, event_id: eventId }: PaymentEventKey): EventFilter {
  return { eventId, provider, status: null, since: null };
}

function toFilter(request: PaymentReplayRequest | PaymentDismissRequest): EventFilter {
  const { state, provider = null, type = null, since, until } = request;
  return {
    eventId: null,
    status: state === 'unmatched' ? null : state,
    unmatchedOnly: state === 'unmatched',
    provider,
    type,
    since: readTimeFilter('body', 'since', since) ?? null,
    until: readTimeFilter('body', 'until', until) ?? null,
  };
}

/** Converts an outcome to an item of the interface. */
export function viewOutcome(
  outcome: Omit<ReplayOutcome, 'occurredAt' | 'nextAttemptAt' | 'attempts'>,
): PaymentReplay['outcomes'][number] {
  const { provider, eventId, type, status, message } = outcome;
  const state = status === 'removed' ? status : eventState({ status, message });
  return { provider, event_id: eventId, type, state, message };
}

function writeCursor({ receivedAt, provider, eventId }: EventPosition): string {
  return Buffer.from(JSON.stringify({ receivedAt, provider, eventId })).toString('base64url');
}

function readCursor(cursor: string): EventPosition {
  const parsed = parseJson(Buffer.from(cursor, 'base64url').toString());
  if (!isRecord(parsed)) throw invalidCursor();
  const { receivedAt, provider, eventId } = parsed;
  if (typeof receivedAt !== 'string' || Number.isNaN(Date.parse(receivedAt))) throw invalidCursor();
  if (typeof provider !== 'string' || typeof eventId !== 'string') throw invalidCursor();
  if (`${provider}${eventId}`.includes('\0')) throw invalidCursor();
  return { receivedAt: new Date(receivedAt), provider, eventId };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON, so not a cursor.
    return undefined;
  }
}

const invalidCursor = () =>
  invalidRequest([
    { loc: ['body', 'cursor'], msg: 'The cursor is not one of a replay', type: 'cursor_invalid' },
  ]);
