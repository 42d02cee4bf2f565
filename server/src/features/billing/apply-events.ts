import type { Context } from '#server/context.ts';
import type { Carrier } from '#server/db/batching/batcher.ts';
import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';

import type { BillingEvent, BillingFact } from './facts.ts';
import {
  insertEvents,
  updateEventOutcomes,
  type EventOutcome,
  type StoredEvent,
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
import { queueNotifications } from './queue-notifications.ts';
import { groupPurchases } from './rules/group-purchases.ts';
import { syncLicenses } from './sync-licenses.ts';

/** A verified delivery and what it means. */
export interface ReceivedEvent {
  readonly kept: StoredEvent;
  readonly event: BillingEvent;
}

/** What a sender is sourced of an event. */
export interface Receipt {
  readonly status: 'processed' | 'duplicate' | 'ignored' | 'deferred';
  readonly message: string | null;
}

/** Carries verified events to the database. */
export type WebhookBatch = Carrier<ReceivedEvent, Receipt>;

/** What applying events needs of the context. */
export type ApplyContext = Pick<
  Context,
  'catalog' | 'clock' | 'config' | 'log' | 'pool' | 'vault' | 'wantedEvents'
>;

/**
 * Keeps events and applies those that are new, all in one transaction; one receipt for each, in their order. Billing is
 * locked meanwhile, so that two processes never compute the same purchase from different facts.
 */
export async function applyEvents(
  ctx: ApplyContext,
  received: readonly ReceivedEvent[],
): Promise<Receipt[]> {
  return inTransaction(ctx.pool, async (client) => {
    await lockBilling(client);
    const inserted = await insertEvents(
      client,
      received.map(({ kept }) => kept),
    );
    const fresh = new Set(inserted.map(nameOf));
    const isNew = received.map(({ kept }) => fresh.delete(nameOf(kept)));
    const outcomes = await applyFacts(
      ctx,
      client,
      received.filter((_, index) => isNew[index]).map(({ event }) => event),
    );
    const ignored = outcomes.filter(({ status }) => status === 'ignored');
    if (ignored.length > 0) await updateEventOutcomes(client, ignored);
    const byName = new Map(outcomes.map((outcome) => [nameOf(outcome), outcome]));
    return received.map(({ kept }, index) => {
      if (!isNew[index]) return { status: 'duplicate', message: null };
      const outcome = byName.get(nameOf(kept));
      const status = outcome?.status === 'ignored' ? 'ignored' : 'processed';
      return { status, message: outcome?.message ?? null };
    });
  });
}

/**
 * Enters the facts of events, computes the purchases that they concern anew and settles their licenses; in the
 * transaction of the caller, who has locked billing. Applying an event again changes nothing.
 */
export async function applyFacts(
  ctx: ApplyContext,
  client: Queryable,
  events: readonly BillingEvent[],
): Promise<EventOutcome[]> {
  const names = await insertFacts(client, events);
  if (names.length === 0) return events.map((event) => toOutcome(event, null));
  const purchases = groupPurchases(await listPurchaseEntries(client, names));
  const synced = await syncLicenses(ctx, client, purchases);
  await queueNotifications(ctx, client, synced);
  return events.map((event) => {
    const unmatched = synced.unmatched.find(
      ({ purchase }) =>
        purchase.facts.provider === event.provider && purchase.eventIds.has(event.eventId),
    );
    return toOutcome(event, unmatched?.reason ?? null);
  });
}

/** Enters what events say and gives what of it leads to purchases. */
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
  return sourced.flatMap(({ fact, ...by }) => (isOfKind(fact) ? [{ ...by, fact }] : []));
}

/** What leads from a fact to its purchases. */
function toReference(fact: BillingFact): Pick<LedgerReference, 'kind' | 'id'> {
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

function nameOf({ provider, eventId }: Pick<StoredEvent, 'provider' | 'eventId'>): string {
  return `${provider} ${eventId}`;
}
