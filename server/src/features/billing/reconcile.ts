import type { Receipt } from './received-event.ts';
import type { BillingDependencies } from './dependencies.ts';
import type { BillingProvider } from './facts.ts';
import { paddleAdapter } from './providers/paddle/adapter.ts';
import type { LoggedEvent, PaddleApi } from './providers/paddle/paddle-api.ts';
import { ProviderApiError } from './providers/provider-api.ts';
import {
  findEventBefore,
  findReconciliationCursor,
  recordReconciliation,
  storeReconciliationCursor,
} from './queries/reconciliations.ts';
import { processEvent } from './receive-webhook.ts';
import { reportMissedEvents } from './report-missed-events.ts';

/** The result of comparing the provider's event log with the stored events. */
export interface Reconciliation {
  /** The number of compared events. */
  readonly compared: number;
  /** The missed events among them that were applied now. */
  readonly repaired: readonly RepairedEvent[];
  /** False if the log continues; the next comparison continues there. */
  readonly reachedEnd: boolean;
}

/** A missed event. */
interface RepairedEvent {
  /** Default: Paddle. */
  readonly provider?: BillingProvider;
  readonly eventId: string;
  readonly type: string;
  readonly status: Receipt['status'];
}

export interface ReconciliationOptions {
  readonly actor: string;
  /**
   * Compares events since this time, without moving the cursor of later comparisons. Default: continues at the cursor.
   */
  readonly since?: Date | null;
  /** Compares to the end of the log. Default: at most {@link MAX_PAGES} pages. */
  readonly unlimited?: boolean;
  /** Called after each event with the number of compared events. */
  readonly onCompared?: (count: number) => void;
  readonly signal?: AbortSignal;
}

const PROVIDER = 'paddle';

const HOUR_MS = 3_600_000;

/** The webhooks of younger events may still arrive. */
const MIN_AGE_MS = HOUR_MS;

/** Of a hundred events each, in one job; the next job starts at once. */
const MAX_PAGES = 10;

/**
 * Compares Paddle's event log with the received events and applies missed ones as their webhooks would have been; a
 * webhook that arrives later is a duplicate. Logs and audits the repaired events. Stores the result, unless `since` is
 * given, because such a comparison does not cover earlier events.
 * @returns null if there is nothing to compare: without an API key, or before the first event
 * @throws ProviderApiError if Paddle cannot be read; events applied before that stay applied
 */
export async function reconcilePaddle(
  deps: BillingDependencies,
  options: ReconciliationOptions,
): Promise<Reconciliation | null> {
  const { paddleApi } = deps;
  const { since = null } = options;
  const start = await findStart(deps, since);
  if (paddleApi === null || (start === null && since === null)) return null;
  try {
    const reconciliation = await compare(deps, paddleApi, start, options);
    // Before the end of the log, a success only proves that Paddle can be read.
    if (since === null && reconciliation.reachedEnd) await recordEnd(deps, start, null);
    return reconciliation;
  } catch (error) {
    if (since === null && !isStopped(options.signal)) await recordFailure(deps, start, error);
    throw error;
  }
}

/** Whether the process is stopping, as opposed to a timeout of the job. */
export function isStopped(signal: AbortSignal | undefined): boolean {
  if (signal === undefined || !signal.aborted) return false;
  return !(signal.reason instanceof Error && signal.reason.name === 'TimeoutError');
}

function findStart({ pool }: BillingDependencies, since: Date | null): Promise<string | null> {
  return since === null
    ? findReconciliationCursor(pool, PROVIDER)
    : findEventBefore(pool, PROVIDER, since);
}

async function compare(
  deps: BillingDependencies,
  paddleApi: PaddleApi,
  start: string | null,
  { actor, since = null, unlimited = false, signal, onCompared }: ReconciliationOptions,
): Promise<Reconciliation> {
  const maxPages = unlimited ? Number.POSITIVE_INFINITY : MAX_PAGES;
  const repaired: RepairedEvent[] = [];
  let compared = 0;
  let page: LogPage = { events: [], last: start, isLast: false };
  try {
    for (let pages = 0; pages < maxPages && !page.isLast; pages += 1) {
      page = await readPage(deps, paddleApi, page.last, signal);
      for (const event of page.events) {
        if (since !== null && event.occurredAt < since) continue;
        signal?.throwIfAborted();
        const { status } = await processLoggedEvent(deps, event);
        if (isRepair(status)) repaired.push({ eventId: event.eventId, type: event.type, status });
        compared += 1;
        onCompared?.(compared);
      }
      // With `since`, the events between the cursor and that time have not been compared.
      const last = page.events.at(-1);
      if (since === null && last !== undefined) {
        await storeReconciliationCursor(deps.pool, PROVIDER, last.eventId);
      }
    }
  } finally {
    await reportMissedEvents(deps, actor, {
      provider: PROVIDER,
      title: 'events of Paddle',
      repaired,
    });
  }
  return { compared, repaired, reachedEnd: page.isLast };
}

/**
 * Ignored events do not count: the log has events of all types, the webhook need not subscribe to those without effect.
 */
function isRepair(status: Receipt['status']): boolean {
  return status === 'processed' || status === 'deferred';
}

/** A page of the event log. */
interface LogPage {
  /** The events that are old enough that their webhooks should have arrived. */
  readonly events: readonly LoggedEvent[];
  /** The event after which the next page starts; null: the oldest event. */
  readonly last: string | null;
  /** Whether no comparable event follows. */
  readonly isLast: boolean;
}

async function readPage(
  { clock }: BillingDependencies,
  paddleApi: PaddleApi,
  after: string | null,
  signal: AbortSignal | undefined,
): Promise<LogPage> {
  const occurredBefore = new Date(clock.now().getTime() - MIN_AGE_MS);
  const logged = await paddleApi.listEvents(after, signal);
  // Otherwise the comparison would never end.
  if (logged.some(({ eventId }) => eventId === after)) {
    throw new ProviderApiError('Paddle repeats an event in its log');
  }
  const firstYoung = logged.findIndex(({ occurredAt }) => occurredAt >= occurredBefore);
  const events = firstYoung < 0 ? logged : logged.slice(0, firstYoung);
  const isLast = events.length === 0 || events.length < logged.length;
  return { events, last: events.at(-1)?.eventId ?? after, isLast };
}

function processLoggedEvent(deps: BillingDependencies, { body }: LoggedEvent): Promise<Receipt> {
  const delivery = { headers: {}, rawBody: Buffer.from(JSON.stringify(body)) };
  return processEvent(deps, paddleAdapter, delivery, body);
}

async function recordEnd(
  { clock, pool }: BillingDependencies,
  start: string | null,
  failure: string | null,
): Promise<void> {
  await recordReconciliation(pool, { provider: PROVIDER, start, at: clock.now(), failure });
}

/** Never throws, so that the caller sees the original error. */
async function recordFailure(
  deps: BillingDependencies,
  start: string | null,
  error: unknown,
): Promise<void> {
  const failure = error instanceof ProviderApiError ? error.message : 'Internal error: see the log';
  try {
    await recordEnd(deps, start, failure);
  } catch (cause) {
    deps.log.warn(
      { event: 'payments.reconciliation_failure_not_recorded', err: cause },
      'could not record the failure of a reconciliation',
    );
  }
}
