import type { Context } from '#server/context.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import type { Receipt } from './apply-events.ts';
import { paddleAdapter } from './providers/paddle/adapter.ts';
import { PaddleApiError, type LoggedEvent, type PaddleApi } from './providers/paddle/paddle-api.ts';
import {
  clearReconciliationFailure,
  findEventBefore,
  findReconciliationCursor,
  recordReconciliation,
  storeReconciliationCursor,
} from './queries/reconciliations.ts';
import { processEvent } from './receive-webhook.ts';

/** What came of comparing a provider's log of events with what was kept. */
export interface Reconciliation {
  /** Events that were compared. */
  readonly compared: number;
  /** Those of them that had never arrived and changed something now. */
  readonly repaired: readonly RepairedEvent[];
  /** False: the log goes on, and the next comparison with it. */
  readonly reachedEnd: boolean;
}

/** An event that had been missed. */
interface RepairedEvent {
  readonly eventId: string;
  readonly type: string;
  readonly status: Receipt['status'];
}

/** Who compares, and how much. */
interface ReconciliationOrder {
  readonly actor: string;
  /**
   * From then on, and then the next comparison begins where it would have begun without this one; left out or null: from
   * where the last comparison ended.
   */
  readonly since?: Date | null;
  /** To the end of the log, however long that takes. */
  readonly unlimited?: boolean;
  /** Told after each event how many were compared. */
  readonly onCompared?: (count: number) => void;
  readonly signal?: AbortSignal;
}

const PROVIDER = 'paddle';

const HOUR_MS = 3_600_000;

/** Younger events may still be on their way. */
const SETTLED_AFTER_MS = HOUR_MS;

/** In one job, of a hundred events each; the rest is compared by the next one, which follows at once. */
const MAX_PAGES = 10;

/**
 * Compares Paddle's own log of events with those that were received, and applies the ones that never arrived, as their
 * webhooks would have been. A webhook that comes after all is a duplicate then. What was repaired is logged and left in the
 * audit log. How it ended is stored, unless it began at a moment: such a one says nothing of what was before.
 * @returns null when there is nothing to compare: no API key, or no event was ever received
 * @throws PaddleApiError when Paddle cannot be asked; what was applied until then stays applied
 */
export async function reconcilePaddle(
  ctx: Context,
  order: ReconciliationOrder,
): Promise<Reconciliation | null> {
  const { paddleApi } = ctx;
  const { since = null } = order;
  const start = await findStart(ctx, since);
  if (paddleApi === null || (start === null && since === null)) return null;
  try {
    const reconciliation = await compare(ctx, paddleApi, start, order);
    if (since === null) await recordSuccess(ctx, start, reconciliation);
    return reconciliation;
  } catch (error) {
    if (since === null && !isStopped(order.signal)) await recordFailure(ctx, start, error);
    throw error;
  }
}

/** Whether the process is asked to stop, and not the work that took too long. */
function isStopped(signal: AbortSignal | undefined): boolean {
  if (signal === undefined || !signal.aborted) return false;
  return !(signal.reason instanceof Error && signal.reason.name === 'TimeoutError');
}

function findStart({ pool }: Context, since: Date | null): Promise<string | null> {
  return since === null
    ? findReconciliationCursor(pool, PROVIDER)
    : findEventBefore(pool, PROVIDER, since);
}

async function compare(
  ctx: Context,
  paddleApi: PaddleApi,
  start: string | null,
  order: ReconciliationOrder,
): Promise<Reconciliation> {
  const { since = null, unlimited = false, signal, onCompared } = order;
  const maxPages = unlimited ? Number.POSITIVE_INFINITY : MAX_PAGES;
  const repaired: RepairedEvent[] = [];
  let compared = 0;
  let page: LogPage = { events: [], last: start, isLast: false };
  try {
    for (let pages = 0; pages < maxPages && !page.isLast; pages += 1) {
      page = await readPage(ctx, paddleApi, page.last, signal);
      for (const event of page.events) {
        if (since !== null && event.occurredAt < since) continue;
        const { status } = await takeLoggedEvent(ctx, event);
        if (isChange(status)) repaired.push({ eventId: event.eventId, type: event.type, status });
        compared += 1;
        onCompared?.(compared);
      }
      // From a moment on, what lies between the last comparison and that moment has not been compared.
      if (since === null) await storeEnd(ctx, page);
    }
  } finally {
    await report(ctx, order.actor, repaired);
  }
  return { compared, repaired, reachedEnd: page.isLast };
}

/** The log has every type of event, and the webhook need not be subscribed to those that nothing follows from. */
function isChange(status: Receipt['status']): boolean {
  return status === 'processed' || status === 'deferred';
}

/** A part of the log. */
interface LogPage {
  /** Those whose webhooks have had their time. */
  readonly events: readonly LoggedEvent[];
  /** The event behind which the next page begins; null: the oldest one. */
  readonly last: string | null;
  /** Whether nothing behind it is to be compared now. */
  readonly isLast: boolean;
}

async function readPage(
  { clock }: Pick<Context, 'clock'>,
  paddleApi: PaddleApi,
  after: string | null,
  signal: AbortSignal | undefined,
): Promise<LogPage> {
  const settledBefore = new Date(clock.now().getTime() - SETTLED_AFTER_MS);
  const logged = await paddleApi.listEvents(after, signal);
  // A log that does not begin behind the event would never end.
  if (logged.some(({ eventId }) => eventId === after)) {
    throw new PaddleApiError('Paddle answers an event anew');
  }
  const events = takeWhile(logged, ({ occurredAt }) => occurredAt < settledBefore);
  const isLast = events.length === 0 || events.length < logged.length;
  return { events, last: events.at(-1)?.eventId ?? after, isLast };
}

async function storeEnd({ pool }: Pick<Context, 'pool'>, { events }: LogPage): Promise<void> {
  const last = events.at(-1);
  if (last !== undefined) await storeReconciliationCursor(pool, PROVIDER, last.eventId);
}

function takeWhile<Item>(items: readonly Item[], holds: (item: Item) => boolean): readonly Item[] {
  const end = items.findIndex((item) => !holds(item));
  return end < 0 ? items : items.slice(0, end);
}

async function takeLoggedEvent(ctx: Context, { body }: LoggedEvent): Promise<Receipt> {
  const delivery = { headers: {}, rawBody: Buffer.from(JSON.stringify(body)) };
  return (await processEvent(ctx, paddleAdapter, delivery, body)).receipt;
}

async function report(
  ctx: Context,
  actor: string,
  repaired: readonly RepairedEvent[],
): Promise<void> {
  if (repaired.length === 0) return;
  ctx.log.warn({ repaired }, 'events of Paddle that never arrived were applied');
  await insertAuditEntry(ctx.pool, {
    occurredAt: ctx.clock.now(),
    actor,
    action: 'webhook.reconcile',
    subjectId: PROVIDER,
    reason: null,
    details: { repaired: repaired.length },
  });
}

/** When the end was not reached, all that is known is that Paddle answers. */
async function recordSuccess(
  ctx: Context,
  start: string | null,
  { reachedEnd }: Reconciliation,
): Promise<void> {
  if (reachedEnd) await record(ctx, start, null);
  else await clearReconciliationFailure(ctx.pool, PROVIDER);
}

async function record(ctx: Context, start: string | null, failure: string | null): Promise<void> {
  const at = ctx.clock.now();
  await recordReconciliation(ctx.pool, { provider: PROVIDER, start, at, failure });
}

/** Never throws: what it failed with says more than that this could not be stored. */
async function recordFailure(ctx: Context, start: string | null, error: unknown): Promise<void> {
  const failure =
    error instanceof PaddleApiError ? error.message : 'It went wrong here: the log says why';
  try {
    await record(ctx, start, failure);
  } catch (reason) {
    ctx.log.warn({ err: reason }, 'that a reconciliation failed could not be stored');
  }
}
