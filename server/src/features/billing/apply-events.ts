import type { Pool } from 'pg';

import type { Queryable } from '#server/db/statement.ts';
import { inTransactionOnce } from '#server/db/transaction.ts';

import type { BillingEvent, BillingFact } from './facts.ts';
import {
  insertEvents,
  updateEventOutcomes,
  type EventOutcome,
  type StoredDelivery,
} from './queries/events.ts';
import {
  insertAdjustments,
  insertAliases,
  insertPayments,
  insertSubscriptions,
  lockBilling,
  upsertCustomers,
  type SourcedFact,
} from './queries/ledger.ts';
import { listPurchaseEntries, type LedgerReference } from './queries/purchases.ts';
import { queueNotifications, type NotificationDependencies } from './queue-notifications.ts';
import { groupPurchases } from './rules/group-purchases.ts';
import { syncLicenses, type SyncDependencies } from './sync-licenses.ts';

/** A verified delivery and the event that it contains. */
export interface ReceivedEvent {
  readonly event: BillingEvent;
  readonly delivery: StoredDelivery;
}

/** The response to the sender of an event. */
export interface Receipt {
  readonly status: 'processed' | 'duplicate' | 'ignored' | 'deferred';
  readonly message: string | null;
}

type FactDependencies = NotificationDependencies & SyncDependencies;

export type ApplyDependencies = FactDependencies & { readonly pool: Pool };

/**
 * Stores events and applies the new ones in one transaction; returns a receipt for each, in their order. Holds the lock of
 * billing, so that two processes never compute the same purchase from different facts.
 */
export async function applyEvents(
  deps: ApplyDependencies,
  received: readonly ReceivedEvent[],
): Promise<Receipt[]> {
  return inTransactionOnce(deps.pool, async (client) => {
    await lockBilling(client);
    const isNew = await insertEvents(
      client,
      received.map(({ event, delivery }) => ({ ...event, ...delivery })),
    );
    const events = received.flatMap(({ event }, index) => (isNew[index] === true ? [event] : []));
    const outcomes = await applyFacts(deps, client, events);
    const ignored = outcomes.filter(({ status }) => status === 'ignored');
    if (ignored.length > 0) await updateEventOutcomes(client, ignored);
    const newOutcomes = outcomes.values();
    return isNew.map((isStored) => (isStored ? toReceipt(newOutcomes.next().value) : DUPLICATE));
  });
}

/** The receipt of an event that is already stored. */
export const DUPLICATE: Receipt = { status: 'duplicate', message: null };

function toReceipt(outcome: EventOutcome | undefined): Receipt {
  const status = outcome?.status === 'ignored' ? 'ignored' : 'processed';
  return { status, message: outcome?.message ?? null };
}

/**
 * Inserts the facts of events, recomputes the purchases that they belong to and synchronizes the licenses; returns an
 * outcome for each event, in their order. Applying an event again changes nothing.
 * @param client in a transaction that holds the lock of billing
 */
export async function applyFacts(
  deps: FactDependencies,
  client: Queryable,
  events: readonly BillingEvent[],
): Promise<EventOutcome[]> {
  const references = await insertFacts(client, events);
  if (references.length === 0) return events.map((event) => toOutcome(event, null));
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

/** Inserts the facts of events and returns references to the purchases that they belong to. */
async function insertFacts(
  client: Queryable,
  events: readonly BillingEvent[],
): Promise<LedgerReference[]> {
  const sourced = events.flatMap(({ provider, eventId, facts }) =>
    facts.map((fact) => ({ provider, eventId, fact })),
  );
  const payments = factsOfKind(sourced, 'payment');
  await insertPayments(client, payments);
  await insertAliases(client, payments);
  await insertSubscriptions(client, factsOfKind(sourced, 'subscription'));
  await insertAdjustments(client, factsOfKind(sourced, 'adjustment'));
  await upsertCustomers(client, factsOfKind(sourced, 'customer'));
  return sourced.map(({ provider, fact }) => ({ provider, ...toReference(fact) }));
}

type FactOf<Kind extends BillingFact['kind']> = Extract<BillingFact, { readonly kind: Kind }>;

function factsOfKind<Kind extends BillingFact['kind']>(
  sourced: readonly SourcedFact<BillingFact>[],
  kind: Kind,
): SourcedFact<FactOf<Kind>>[] {
  const isOfKind = (fact: BillingFact): fact is FactOf<Kind> => fact.kind === kind;
  return sourced.flatMap(({ fact, ...key }) => (isOfKind(fact) ? [{ ...key, fact }] : []));
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
