import type { BillingDependencies } from './dependencies.ts';
import { applyAnswer, type AppliedAnswer } from './look-up-event.ts';
import { readId, readTime, type JsonObject } from './providers/fields.ts';
import type { GumroadApi } from './providers/gumroad/gumroad-api.ts';
import { ProviderApiError } from './providers/provider-api.ts';
import {
  findFirstGumroadReceipt,
  listKnownSales,
  type KnownSale,
} from './queries/gumroad-sales.ts';
import { findReconciliation, recordReconciliation } from './queries/reconciliations.ts';
import { isStopped, type Reconciliation, type ReconciliationOptions } from './reconcile.ts';
import { reportMissedEvents } from './report-missed-events.ts';

const PROVIDER = 'gumroad';

const HOUR_MS = 3_600_000;

/** The pings of younger sales may still arrive. */
const MIN_AGE_MS = HOUR_MS;

/** Gumroad compares days in its time zone. */
const OVERLAP_MS = 24 * HOUR_MS;

/**
 * Compares Gumroad's list of sales with the booked ones, and looks up those that are missing, or that were refunded or disputed
 * since. Logs and audits them. Stores the result, unless `since` is given.
 * @returns null if there is nothing to compare: without an access token, or before the first ping
 * @throws ProviderApiError if Gumroad cannot be read; sales applied before that stay applied
 */
export async function reconcileGumroad(
  deps: BillingDependencies,
  options: ReconciliationOptions,
): Promise<Reconciliation | null> {
  const { gumroadApi, pool, clock } = deps;
  const start = options.since ?? (await findStart(deps));
  if (gumroadApi === null || start === null) return null;
  const record = (failure: string | null) =>
    recordReconciliation(pool, { provider: PROVIDER, start: 'sales', at: clock.now(), failure });
  const isRecorded = options.since == null;
  try {
    const reconciliation = await compare(deps, gumroadApi, start, options);
    if (isRecorded) await record(null);
    return reconciliation;
  } catch (error) {
    if (isRecorded && error instanceof ProviderApiError && !isStopped(options.signal)) {
      await record(error.message);
    }
    throw error;
  }
}

async function findStart({ pool }: BillingDependencies): Promise<Date | null> {
  const last = (await findReconciliation(pool, PROVIDER))?.reconciledAt;
  const from = last ?? (await findFirstGumroadReceipt(pool));
  return from === null ? null : new Date(from.getTime() - OVERLAP_MS);
}

async function compare(
  deps: BillingDependencies,
  gumroadApi: GumroadApi,
  start: Date,
  { actor, signal, onCompared }: ReconciliationOptions,
): Promise<Reconciliation> {
  const repaired: AppliedAnswer[] = [];
  let compared = 0;
  let pageKey: string | null = null;
  try {
    do {
      const page = await gumroadApi.listSales(start, pageKey, signal);
      for (const sale of await findMissed(deps, page.sales)) {
        signal?.throwIfAborted();
        repaired.push(...(await applyMissed(deps, sale, signal)));
      }
      compared += page.sales.length;
      onCompared?.(compared);
      pageKey = page.nextPageKey;
    } while (pageKey !== null);
  } finally {
    await reportMissedEvents(deps, actor, {
      provider: PROVIDER,
      title: 'sales of Gumroad',
      repaired,
    });
  }
  return { compared, repaired: repaired.map(toRepaired), reachedEnd: true };
}

function toRepaired(applied: AppliedAnswer): Reconciliation['repaired'][number] {
  return { ...applied, provider: PROVIDER };
}

/** Lists the sales of a page that are old enough, and not booked as the page has them. */
async function findMissed(
  { clock, pool }: BillingDependencies,
  sales: readonly JsonObject[],
): Promise<JsonObject[]> {
  const before = clock.now().getTime() - MIN_AGE_MS;
  const due = sales.filter((sale) => (readTime(sale['created_at'])?.getTime() ?? 0) < before);
  const ids = due.flatMap((sale) => readId(sale['id']) ?? []);
  if (ids.length === 0) return [];
  const known = new Map((await listKnownSales(pool, ids)).map((sale) => [sale.saleId, sale]));
  return due.filter((sale) => isMissed(sale, known.get(readId(sale['id']) ?? '')));
}

function isMissed(sale: JsonObject, known: KnownSale | undefined): boolean {
  if (readId(sale['id']) === null) return false;
  const isFullRefund = sale['refunded'] === true ? true : toFalse(sale['partially_refunded']);
  const disputed = sale['disputed'] === true ? 'reversed' : null;
  const disputeStatus = sale['chargedback'] === true ? 'approved' : disputed;
  if (known !== undefined) {
    return known.isFullRefund !== isFullRefund || known.disputeStatus !== disputeStatus;
  }
  // They have no facts of their own, unless the money went back.
  const isWithoutFacts =
    sale['is_preorder_authorization'] === true || sale['is_gift_sender_purchase'] === true;
  return !isWithoutFacts || isFullRefund === true || disputeStatus === 'approved';
}

function toFalse(value: unknown): false | null {
  return value === true ? false : null;
}

/** What is known already is a duplicate. */
async function applyMissed(
  deps: BillingDependencies,
  sale: JsonObject,
  signal: AbortSignal | undefined,
): Promise<AppliedAnswer[]> {
  const saleId = readId(sale['id']);
  const subscriptionId = readId(sale['subscription_id']);
  const question = { eventId: `compared:${saleId}`, saleId, subscriptionId };
  const applied = await applyAnswer(deps, question, signal);
  return applied.filter(({ status }) => status === 'processed' || status === 'deferred');
}
