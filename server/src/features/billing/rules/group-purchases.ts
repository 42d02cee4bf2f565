import {
  compareOccurrences,
  UNKNOWN_CUSTOMER,
  type AdjustmentFact,
  type BillingProvider,
  type CustomerDetails,
  type EventKey,
  type Occurrence,
  type PaymentFact,
  type PurchaseFact,
  type RepairFact,
  type SubscriptionFact,
} from '../facts.ts';
import { compareText, compareVersions } from './compare-facts.ts';
import { ATTENTION_PREFIX } from './event-state.ts';
import {
  mergeAdjustment,
  mergeCustomer,
  mergePayment,
  type MergedPayment,
  type Sourced,
} from './merge-versions.ts';
import { pairStarted, type OpenGroup } from './pair-started.ts';
import { removeWrongLinks, type NamedEntry } from './remove-wrong-links.ts';
import { setAside, type SetAsideFact } from './set-aside.ts';

/** A fact about a purchase and its source event. */
export interface LedgerEntry extends EventKey {
  readonly fact: PurchaseFact | RepairFact;
}

/**
 * All facts about a purchase: a checkout and the subscription that it started. The same facts in any order result in
 * the same purchase and licenses.
 */
export interface PurchaseFacts {
  readonly provider: BillingProvider;
  /** All payments of the checkout and of its subscription, oldest first, in their newest version. */
  readonly payments: readonly MergedPayment[];
  /** All snapshots of the subscription, oldest first. */
  readonly snapshots: readonly Sourced<SubscriptionFact>[];
  /** The newest version of each adjustment, with the time of the first version with the same content. */
  readonly adjustments: readonly Sourced<AdjustmentFact>[];
  /** Facts that cannot be right, and therefore are in none of the other lists. */
  readonly setAside: readonly SetAsideFact[];
  /** Payments that granted nothing and were refunded. Absent: none. */
  readonly paidBack?: readonly MergedPayment[];
  /** What operators repaired, oldest first. Absent: nothing. */
  readonly repairs?: readonly RepairFact[];
}

/** A purchase and its source events. */
export interface Purchase {
  readonly facts: PurchaseFacts;
  readonly eventIds: ReadonlySet<string>;
}

/**
 * Groups entries into purchases by their transactions and subscriptions. Neither the order of the entries nor
 * duplicates make a difference.
 */
export function groupPurchases(all: readonly LedgerEntry[]): Purchase[] {
  const entries = removeWrongLinks(all);
  const roots = new Roots();
  for (const entry of entries) {
    const [first, ...others] = namesOf(entry);
    if (first !== undefined) for (const other of others) roots.unite(first, other);
  }
  const groupOf = (entry: LedgerEntry): string => roots.find(namesOf(entry)[0] ?? '');
  const separate = Map.groupBy(entries, groupOf);
  const pairs = pairStarted([...separate].map(toOpenGroup));
  for (const [started, checkout] of pairs) roots.unite(started, checkout);
  const groups = pairs.length === 0 ? separate : Map.groupBy(entries, groupOf);
  return [...groups.values()].map(toPurchase);
}

function toOpenGroup([name, entries]: readonly [string, readonly LedgerEntry[]]): OpenGroup {
  const facts = entries.flatMap(({ fact }) => (fact.kind === 'repair' ? [] : [fact]));
  return { name, facts, provider: entries[0]?.provider ?? '' };
}

/** Returns the ids that a fact shares with other facts of its purchase. */
function namesOf({ provider, fact }: LedgerEntry): string[] {
  const aliases = fact.kind === 'payment' ? (fact.aliases ?? []) : [];
  const checkoutId = fact.kind === 'payment' ? (fact.checkoutId ?? null) : null;
  const ids = [fact.transactionId, checkoutId, ...aliases].filter((id) => id !== null);
  const names = ids.map((id) => `${provider} transaction ${id}`);
  if (!('subscriptionId' in fact) || fact.subscriptionId === null) return names;
  return [...names, `${provider} subscription ${fact.subscriptionId}`];
}

/** Disjoint sets of names (union-find). */
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

function toPurchase(entries: readonly NamedEntry[]): Purchase {
  const payments: Sourced<PaymentFact>[] = [];
  const snapshots: Sourced<SubscriptionFact>[] = [];
  const adjustments: Sourced<AdjustmentFact>[] = [];
  const repairs: Sourced<RepairFact>[] = [];
  for (const { eventId, fact, isMisnamed } of entries) {
    if (fact.kind === 'payment') {
      // The first report of a payment is kept.
      if (!isMisnamed) payments.push({ ...fact, eventId });
    } else if (fact.kind === 'subscription') snapshots.push({ ...fact, eventId });
    else if (fact.kind === 'adjustment') adjustments.push({ ...fact, eventId });
    else repairs.push({ ...fact, eventId });
  }
  const known = withInvoiceLines(
    groupVersions(payments, ({ transactionId }) => transactionId)
      .map(mergePayment)
      .sort(compareVersions),
  );
  const canonical = mapAliases(known);
  const checked = setAside({
    payments: known,
    snapshots: groupVersions(snapshots, ({ eventId }) => eventId)
      .flatMap((same) => same.slice(-1))
      .map((fact) => ({ ...fact, transactionId: resolve(canonical, fact.transactionId) }))
      .sort(compareSnapshots),
    adjustments: groupVersions(adjustments, ({ adjustmentId }) => adjustmentId)
      .map(mergeAdjustment)
      .map((fact) => ({
        ...fact,
        transactionId: canonical.get(fact.transactionId) ?? fact.transactionId,
      })),
  });
  const facts = {
    ...checked,
    provider: entries[0]?.provider ?? 'standard',
    setAside: [...entries.flatMap(explainWrongLink), ...checked.setAside],
    ...(repairs.length === 0 ? {} : { repairs: resolveRepairs(repairs, canonical) }),
  };
  const events = entries.filter(({ fact }) => fact.kind !== 'repair');
  return { facts, eventIds: new Set(events.map(({ eventId }) => eventId)) };
}

function resolveRepairs(
  repairs: readonly Sourced<RepairFact>[],
  canonical: ReadonlyMap<string, string>,
): readonly RepairFact[] {
  return repairs.toSorted(compareVersions).map((fact) => ({
    ...fact,
    transactionId: canonical.get(fact.transactionId) ?? fact.transactionId,
  }));
}

function explainWrongLink({ eventId, fact, isMisnamed }: NamedEntry): SetAsideFact[] {
  if (!isMisnamed || fact.kind === 'adjustment' || fact.kind === 'repair') return [];
  const reason =
    fact.kind === 'payment'
      ? `${ATTENTION_PREFIX}it names another subscription for the transaction ${fact.transactionId}, which is kept. Send this payment again under a separate id.`
      : `${ATTENTION_PREFIX}the subscription ${fact.subscriptionId} names a transaction of another subscription, which stays as it is. Send the event again with the transaction that started it.`;
  return [{ eventId, reason }];
}

/** A checkout that does not report what it sold has the lines of its invoice. */
function withInvoiceLines(payments: readonly MergedPayment[]): MergedPayment[] {
  return payments.map((payment) => {
    const { aliases = [], problem } = payment;
    if (payment.origin !== 'purchase' || problem === undefined) return payment;
    const invoice = payments.find(
      ({ origin, transactionId, lines }) =>
        origin === 'other' && lines.length > 0 && aliases.includes(transactionId),
    );
    if (invoice === undefined) return payment;
    const { problem: _answered, ...answered } = payment;
    return { ...answered, lines: invoice.lines };
  });
}

/**
 * Maps aliases and checkout ids to the ids of payments. A payment's own id takes precedence over another one's alias.
 */
function mapAliases(payments: readonly PaymentFact[]): ReadonlyMap<string, string> {
  const names = payments.flatMap(({ transactionId, aliases = [], checkoutId = transactionId }) =>
    [...aliases, checkoutId].map((name) => [name, transactionId] as const),
  );
  const own = payments.map(({ transactionId }) => [transactionId, transactionId] as const);
  return new Map([...names, ...own]);
}

function resolve(canonical: ReadonlyMap<string, string>, id: string | null): string | null {
  return id === null ? null : (canonical.get(id) ?? id);
}

/** Groups the versions of each fact, oldest first. */
function groupVersions<Fact extends Sourced<Occurrence>>(
  facts: readonly Fact[],
  idOf: (fact: Fact) => string,
): Fact[][] {
  if (facts.length === 0) return [];
  return [...Map.groupBy(facts, idOf).values()].map((versions) => versions.sort(compareVersions));
}

/** The buyer of a purchase. */
export interface Buyer {
  readonly customerId: string | null;
  readonly customer: CustomerDetails;
}

/** Finds the buyer in payments and snapshots; newer details take precedence. */
export function findBuyer({ facts }: Purchase): Buyer {
  const ordered = [...facts.payments, ...facts.snapshots].sort(compareOccurrences);
  return {
    customerId: ordered.findLast(({ customerId }) => customerId !== null)?.customerId ?? null,
    customer: ordered.map(({ customer }) => customer).reduce(mergeCustomer, UNKNOWN_CUSTOMER),
  };
}

/** By time, with a cancellation after a change at the same time, because some providers report whole seconds. */
function compareSnapshots(a: Sourced<SubscriptionFact>, b: Sourced<SubscriptionFact>): number {
  const ended = Number(a.status === 'canceled') - Number(b.status === 'canceled');
  return compareOccurrences(a, b) || ended || compareText(a.eventId, b.eventId);
}
