import type { Queryable } from '#server/db/statement.ts';
import { inTransactionOnce } from '#server/db/transaction.ts';

import type { ApplyDependencies } from './dependencies.ts';
import type { BillingEvent, BillingFact } from './facts.ts';
import { insertEvents, updateEventOutcomes, type EventOutcome } from './queries/events.ts';
import { insertFacts, lockBilling } from './queries/ledger.ts';
import { listPurchaseEntries, type LedgerReference } from './queries/purchases.ts';
import { queueNotifications } from './queue-jobs.ts';
import { DUPLICATE, type Receipt, type ReceivedEvent } from './received-event.ts';
import { groupPurchases } from './rules/group-purchases.ts';
import { syncLicenses } from './sync-licenses.ts';

/**
 * Stores events and applies the new ones in one transaction; returns a receipt for each, in their order. Acquires the
 * lock of billing, so that two processes never compute the same purchase from different facts.
 */
export async function applyEvents(
  deps: ApplyDependencies,
  events: readonly ReceivedEvent[],
): Promise<Receipt[]> {
  return inTransactionOnce(deps.pool, async (client) => {
    await lockBilling(client);
    const isNew = await insertEvents(client, events);
    const outcomes = await applyFacts(
      deps,
      client,
      events.filter((_, index) => isNew[index]),
    );
    const ignored = outcomes.filter(({ status }) => status === 'ignored');
    if (ignored.length > 0) await updateEventOutcomes(client, ignored);
    const newOutcomes = outcomes.values();
    return isNew.map((isStored) => (isStored ? toReceipt(newOutcomes.next().value) : DUPLICATE));
  });
}

function toReceipt(outcome: EventOutcome | undefined): Receipt {
  const status = outcome?.status === 'ignored' ? 'ignored' : 'processed';
  return { status, message: outcome?.message ?? null };
}

/**
 * Inserts the facts of events, recomputes the purchases that they belong to and synchronizes the licenses; returns an
 * outcome for each event, in their order. Applying an event again changes nothing.
 * @param client in a transaction that has the lock of billing
 */
export async function applyFacts(
  deps: ApplyDependencies,
  client: Queryable,
  events: readonly BillingEvent[],
): Promise<EventOutcome[]> {
  const facts = events.flatMap(({ provider, eventId, facts: own }) =>
    own.map((fact) => ({ provider, eventId, fact })),
  );
  if (facts.length === 0) return events.map((event) => toOutcome(event, null));
  await insertFacts(client, facts);
  const references = facts.map(({ provider, fact }) => ({ provider, ...toReference(fact) }));
  const purchases = groupPurchases(await listPurchaseEntries(client, references));
  const synced = await syncLicenses(deps, client, purchases);
  await queueNotifications(deps, client, synced);
  return events.map((event) => {
    const unmatched = synced.unmatched.find(
      ({ purchase }) =>
        purchase.facts.provider === event.provider && purchase.eventIds.has(event.eventId),
    );
    return toOutcome(event, unmatched?.reason ?? null);
  });
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

function toOutcome(
  { provider, eventId, type, occurredAt, ignoredBecause }: BillingEvent,
  unmatched: string | null,
): EventOutcome {
  const message = ignoredBecause ?? unmatched;
  const status = message === null ? 'processed' : 'ignored';
  return { provider, eventId, type, occurredAt, status, message, nextAttemptAt: null };
}
