import {
  compareOccurrences,
  occurrenceOf,
  type AdjustmentFact,
  type BillingFact,
  type BillingProvider,
  type CustomerDetails,
  type Occurrence,
  type PaymentFact,
  type SubscriptionFact,
} from '../facts.ts';
import type { PurchaseFacts } from './purchase.ts';

/** One thing that was told of a purchase, and the event that told it. */
export interface LedgerEntry {
  readonly provider: BillingProvider;
  readonly eventId: string;
  readonly fact: PurchaseFact;
}

/** What purchases are made of. */
type PurchaseFact = Exclude<BillingFact, { kind: 'customer' }>;

/** A purchase, and the events that told of it. */
export interface Purchase {
  readonly facts: PurchaseFacts;
  readonly eventIds: ReadonlySet<string>;
}

type Told<Fact> = Fact & { readonly eventId: string };

/**
 * Sorts entries into purchases: payments that name a subscription belong to it, and so does the checkout that a snapshot
 * names. The order of the entries makes no difference, nor does one that is there twice.
 */
export function groupPurchases(entries: readonly LedgerEntry[]): Purchase[] {
  const roots = new Roots();
  for (const entry of entries) {
    const [first, ...others] = namesOf(entry);
    if (first !== undefined) for (const other of others) roots.unite(first, other);
  }
  const groups = Map.groupBy(entries, (entry) => roots.find(namesOf(entry)[0] ?? ''));
  return [...groups.values()].map(toPurchase);
}

/** The names under which a fact belongs to a purchase. */
function namesOf({ provider, fact }: LedgerEntry): string[] {
  const aliases = fact.kind === 'payment' ? (fact.aliases ?? []) : [];
  const checkoutId = fact.kind === 'payment' ? (fact.checkoutId ?? null) : null;
  const ids = [fact.transactionId, checkoutId, ...aliases].filter((id) => id !== null);
  const names = ids.map((id) => `${provider} transaction ${id}`);
  if (fact.kind === 'adjustment' || fact.subscriptionId === null) return names;
  return [...names, `${provider} subscription ${fact.subscriptionId}`];
}

/** Sets of names that grow together (union-find). */
class Roots {
  readonly #parents = new Map<string, string>();

  find(name: string): string {
    let root = name;
    for (let parent = this.#parents.get(root); parent !== undefined;) {
      root = parent;
      parent = this.#parents.get(root);
    }
    if (root !== name) this.#parents.set(name, root);
    return root;
  }

  unite(one: string, other: string): void {
    const [a, b] = [this.find(one), this.find(other)];
    if (a !== b) this.#parents.set(a, b);
  }
}

function toPurchase(entries: readonly LedgerEntry[]): Purchase {
  const payments: Told<PaymentFact>[] = [];
  const snapshots: Told<SubscriptionFact>[] = [];
  const adjustments: Told<AdjustmentFact>[] = [];
  for (const { eventId, fact } of entries) {
    if (fact.kind === 'payment') payments.push({ ...fact, eventId });
    else if (fact.kind === 'subscription') snapshots.push({ ...fact, eventId });
    else adjustments.push({ ...fact, eventId });
  }
  const known = byId(payments, ({ transactionId }) => transactionId)
    .map(mergePayment)
    .sort(compareTold);
  const canonical = mapNames(known);
  const facts = {
    provider: entries[0]?.provider ?? 'standard',
    payments: known,
    snapshots: byId(snapshots, ({ eventId }) => eventId)
      .flatMap((same) => same.slice(-1))
      .map((fact) => ({ ...fact, transactionId: resolve(canonical, fact.transactionId) }))
      .sort(compareSnapshots),
    adjustments: byId(adjustments, ({ adjustmentId }) => adjustmentId)
      .map(mergeAdjustment)
      .map((fact) => ({
        ...fact,
        transactionId: canonical.get(fact.transactionId) ?? fact.transactionId,
      })),
  };
  return { facts, eventIds: new Set(entries.map(({ eventId }) => eventId)) };
}

/** From the names of payments to their ids. A payment's own id is never another one's alias. */
function mapNames(payments: readonly PaymentFact[]): ReadonlyMap<string, string> {
  const names = payments.flatMap(({ transactionId, aliases = [], checkoutId = transactionId }) =>
    [...aliases, checkoutId].map((name) => [name, transactionId] as const),
  );
  const own = payments.map(({ transactionId }) => [transactionId, transactionId] as const);
  return new Map([...names, ...own]);
}

function resolve(canonical: ReadonlyMap<string, string>, id: string | null): string | null {
  return id === null ? null : (canonical.get(id) ?? id);
}

/** The words on each id, the oldest first. */
function byId<Fact extends Told<Occurrence>>(
  facts: readonly Fact[],
  idOf: (fact: Fact) => string,
): Fact[][] {
  return [...Map.groupBy(facts, idOf).values()].map((words) => words.sort(compareTold));
}

/** The newest word counts, from the moment of the oldest; what it leaves out an older one may have said. */
function mergePayment(words: readonly Told<PaymentFact>[]): Told<PaymentFact> {
  return words.reduce((older, newer) => ({
    ...newer,
    ...occurrenceOf(older),
    subscriptionId: newer.subscriptionId ?? older.subscriptionId,
    customerId: newer.customerId ?? older.customerId,
    customer: mergeCustomer(older.customer, newer.customer),
    period: newer.period ?? older.period,
    ...mergeIds(older, newer),
  }));
}

/** The newest word counts, from the moment since which nothing else was said: telling it again changes nothing. */
function mergeAdjustment(words: readonly Told<AdjustmentFact>[]): Told<AdjustmentFact> {
  return words.reduce((older, newer) =>
    saysTheSame(older, newer) ? { ...newer, ...occurrenceOf(older) } : newer,
  );
}

function saysTheSame(a: AdjustmentFact, b: AdjustmentFact): boolean {
  return a.effect === b.effect && a.status === b.status && a.full === b.full && a.total === b.total;
}

function mergeIds(older: PaymentFact, newer: PaymentFact): Partial<PaymentFact> {
  const checkoutId = newer.checkoutId ?? older.checkoutId;
  return {
    aliases: [...new Set([...(older.aliases ?? []), ...(newer.aliases ?? [])])],
    ...(checkoutId === undefined ? {} : { checkoutId }),
  };
}

/** What the newer says, and where it says nothing, the older. */
export function mergeCustomer(older: CustomerDetails, newer: CustomerDetails): CustomerDetails {
  return {
    email: newer.email ?? older.email,
    name: newer.name ?? older.name,
    locale: newer.locale ?? older.locale,
  };
}

/** By time; of what was told at the same moment, by the event's id, so that the order is always the same. */
function compareTold(a: Told<Occurrence>, b: Told<Occurrence>): number {
  return compareOccurrences(a, b) || compareText(a.eventId, b.eventId);
}

/** Some providers tell whole seconds only: an end that falls into the same one as a change came after it. */
function compareSnapshots(a: Told<SubscriptionFact>, b: Told<SubscriptionFact>): number {
  const ended = Number(a.status === 'canceled') - Number(b.status === 'canceled');
  return compareOccurrences(a, b) || ended || compareText(a.eventId, b.eventId);
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
