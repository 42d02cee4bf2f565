import { nameProvider, providerOf } from '@latchkey/contract';

import type { Queryable } from '#server/db/statement.ts';

import type { ApplyDependencies } from './dependencies.ts';
import type { BillingEvent, BillingFact, EventKey } from './facts.ts';
import {
  clearAttention,
  insertEvents,
  listAttentionKeys,
  requestAttention,
  updateEventOutcomes,
  type EventOutcome,
} from './queries/events.ts';
import { inBillingTransactionOnce, insertFacts } from './queries/ledger.ts';
import { findPurchases } from './find-purchases.ts';
import type { LedgerReference } from './queries/purchases.ts';
import { findRareRows, type RareRows } from './queries/rare-rows.ts';
import { insertRevenueDue } from './queries/revenue-due.ts';
import { queueEventLookUps, queueNotifications } from './queue-jobs.ts';
import { DUPLICATE, type Receipt, type ReceivedEvent } from './received-event.ts';
import type { Purchase } from './rules/group-purchases.ts';
import { syncLicenses, type SyncedLicenses } from './sync-licenses.ts';

/**
 * Stores events and applies the new ones in one transaction; returns a receipt for each, in their order. Acquires the
 * lock of billing, so that two processes never compute the same purchase from different facts.
 */
export async function applyEvents(
  deps: ApplyDependencies,
  events: readonly ReceivedEvent[],
): Promise<Receipt[]> {
  return inBillingTransactionOnce(deps.pool, async (client) => {
    const isNew = await insertEvents(client, events);
    const outcomes = await applyFacts(
      deps,
      client,
      events.filter((_, index) => isNew[index]),
    );
    // A repeated ping may report news that the first one could not know.
    const repeated = events.filter((event, index) => !isNew[index] && requiresLookUp(event));
    if (repeated.length > 0) await queueEventLookUps(client, repeated);
    const remarkable = outcomes.filter(({ message }) => message !== null);
    if (remarkable.length > 0) await updateEventOutcomes(client, remarkable);
    const newOutcomes = outcomes.values();
    return isNew.map((isStored) => (isStored ? toReceipt(newOutcomes.next().value) : DUPLICATE));
  });
}

function toReceipt(outcome: EventOutcome | undefined): Receipt {
  const { status, message = null } = outcome ?? {};
  const isOther = status === 'ignored' || status === 'deferred';
  return { status: isOther ? status : 'processed', message };
}

function requiresLookUp(event: BillingEvent): boolean {
  return event.requiresLookUp === true;
}

/**
 * Inserts the facts of events, recomputes the purchases that they belong to and synchronizes the licenses; returns an
 * outcome for each event, in their order. Applying an event again changes nothing. Events without facts are looked up by jobs.
 * @param client in a transaction that has the lock of billing
 */
export async function applyFacts(
  deps: ApplyDependencies,
  client: Queryable,
  events: readonly BillingEvent[],
): Promise<EventOutcome[]> {
  const now = deps.clock.now();
  const questions = events.filter(requiresLookUp);
  if (questions.length > 0) await queueEventLookUps(client, questions);
  const facts = events.flatMap(({ provider, eventId, facts: own }) =>
    own.map((fact) => ({ provider, eventId, fact })),
  );
  if (facts.length === 0) return events.map((event) => toOutcome(event, null, now));
  await insertFacts(client, facts);
  const references = events.flatMap(listReferences);
  const { synced, attention } = await recompute(deps, client, references, events);
  const started = new Set(
    synced.startedEarlier.flatMap(({ facts: { provider }, eventIds }) =>
      [...eventIds].map((eventId) => toKey({ provider, eventId })),
    ),
  );
  return events.map((event) => {
    const outcome = toOutcome(event, attention.get(toKey(event)) ?? null, now);
    const isNoted = outcome.message === null && started.has(toKey(event));
    return isNoted ? { ...outcome, message: STARTED_EARLIER } : outcome;
  });
}

/**
 * Recomputes the purchases of references, synchronizes their licenses, and updates what their stored events say.
 * @param client in a transaction that has the lock of billing
 */
export async function recomputePurchases(
  deps: ApplyDependencies,
  client: Queryable,
  references: readonly LedgerReference[],
): Promise<void> {
  await recompute(deps, client, references, []);
  await insertRevenueDue(client, references);
}

/** Lists the names of what an event reports. */
export function listReferences({
  provider,
  facts,
}: Pick<BillingEvent, 'provider' | 'facts'>): LedgerReference[] {
  return facts.map((fact) => ({ provider, ...toReference(fact) }));
}

async function recompute(
  deps: ApplyDependencies,
  client: Queryable,
  references: readonly LedgerReference[],
  events: readonly BillingEvent[],
): Promise<{
  readonly synced: SyncedLicenses;
  readonly attention: ReadonlyMap<string, Attention>;
}> {
  const purchases = await findPurchases(deps, client, references);
  const rare = await findRareRows(client);
  const synced = await syncLicenses(deps, client, purchases, rare);
  await queueNotifications(deps, client, synced);
  const attention = listAttention(synced);
  await updateAttention(client, { ...synced, events, attention, rare });
  return { synced, attention };
}

const STARTED_EARLIER =
  'The subscription started before its first event arrived here; its license was created from a later payment.';

/** Why an event needs an operator, and whether no price of its purchase is known: its purchase may only be incomplete yet. */
interface Attention extends EventKey {
  readonly message: string;
  readonly isUnmatched: boolean;
}

function listAttention({ unmatched, problems }: SyncedLicenses): ReadonlyMap<string, Attention> {
  const whole = unmatched.flatMap(({ purchase, reason }) =>
    [...purchase.eventIds].map((eventId) => ({
      provider: purchase.facts.provider,
      eventId,
      message: reason,
      isUnmatched: true,
    })),
  );
  const single = problems.map(({ purchase, eventId, reason }) => ({
    provider: purchase.facts.provider,
    eventId,
    message: reason,
    isUnmatched: false,
  }));
  return new Map([...whole, ...single].map((each) => [toKey(each), each]));
}

/** Usually fewer events need attention than a batch of renewals has stored events. */
const MAX_LISTED = 200;

interface AttentionUpdate {
  readonly purchases: readonly Purchase[];
  /** The new events, which say it themselves. */
  readonly events: readonly BillingEvent[];
  readonly attention: ReadonlyMap<string, Attention>;
  readonly rare: Pick<RareRows, 'attention'>;
}

/** Updates what stored events of the purchases say: their payments have licenses by now, or need an operator. */
async function updateAttention(
  client: Queryable,
  { purchases, events, attention, rare }: AttentionUpdate,
): Promise<void> {
  const isNew = new Set(events.map(toKey));
  const stored = purchases
    .flatMap(({ facts: { provider }, eventIds }) =>
      [...eventIds].map((eventId) => ({ provider, eventId })),
    )
    .filter((event) => !isNew.has(toKey(event)));
  const settled = rare.attention ? stored.filter((event) => !attention.has(toKey(event))) : [];
  const open = settled.length === 0 ? [] : await listAttentionKeys(client, MAX_LISTED);
  const isOpen = new Set(open.map(toKey));
  const done =
    open.length < MAX_LISTED ? settled.filter((each) => isOpen.has(toKey(each))) : settled;
  if (done.length > 0) await clearAttention(client, done);
  const unsettled = stored.flatMap((event) => attention.get(toKey(event)) ?? []);
  if (unsettled.length > 0) await requestAttention(client, unsettled);
}

function toKey({ provider, eventId }: EventKey): string {
  return `${provider} ${eventId}`;
}

function toReference(fact: BillingFact): Omit<LedgerReference, 'provider'> {
  switch (fact.kind) {
    case 'subscription':
      return { kind: 'subscription', id: fact.subscriptionId };
    case 'customer':
      return { kind: 'customer', id: fact.customerId };
    case 'payment':
    case 'adjustment':
      return { kind: 'transaction', id: fact.transactionId };
  }
}

/** If the job is lost, the retry of deferred events queues another one. */
const LOOK_UP_MS = 15 * 60_000;

function toOutcome(event: BillingEvent, attention: Attention | null, now: Date): EventOutcome {
  const { provider, eventId, type, occurredAt, ignoredBecause } = event;
  if (requiresLookUp(event)) {
    const message = `The event is not signed: ${nameProvider(providerOf(provider))} is asked for its facts.`;
    const nextAttemptAt = new Date(now.getTime() + LOOK_UP_MS);
    return { provider, eventId, type, occurredAt, status: 'deferred', message, nextAttemptAt };
  }
  const message = ignoredBecause ?? attention?.message ?? null;
  const isIgnored = ignoredBecause !== null || attention?.isUnmatched === true;
  const status = isIgnored ? 'ignored' : 'processed';
  return { provider, eventId, type, occurredAt, status, message, nextAttemptAt: null };
}
