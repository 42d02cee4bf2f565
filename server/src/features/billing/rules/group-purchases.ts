import {
  compareOccurrences,
  occurrenceOf,
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
import { pairStarted, type OpenGroup } from './pair-started.ts';
import { removeWrongLinks, type NamedEntry } from './remove-wrong-links.ts';
import { isOtherCustomer, setAside, type SetAsideFact } from './set-aside.ts';

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
  readonly adjustments: readonly AdjustmentFact[];
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

type Sourced<Fact> = Fact & { readonly eventId: string };

/** All versions of a payment in one. */
export interface MergedPayment extends Sourced<PaymentFact> {
  /** The event that used the transaction's id for something else; absent: there is none. */
  readonly conflictEventId?: string;
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

/**
 * The newest version applies, with the time of the oldest one; older versions fill in missing values. The first version
 * decides what the payment is: one that says something else under the same id has no effect.
 */
function mergePayment(versions: readonly Sourced<PaymentFact>[]): MergedPayment {
  const [only, ...others] = versions;
  if (only !== undefined && others.length === 0) return only;
  const first = versions.find(({ origin }) => origin !== 'other');
  const owner = versions.find(({ customerId }) => customerId !== null);
  const isConflict = (each: PaymentFact): boolean =>
    (each.origin !== 'other' && each.origin !== first?.origin) ||
    (owner !== undefined && isOtherCustomer(owner, each));
  const conflictEventId = versions.find(isConflict)?.eventId;
  const merged = versions
    .filter((version) => !isConflict(version))
    .reduce((older, newer) => ({
      // Currency, tax, fee and country are reported by some versions only.
      ...withoutDetails(older),
      ...withoutDetails(newer),
      // A version without an amount only links ids, and may be dated before the payment.
      ...occurrenceOf(older.total === null && newer.total !== null ? newer : older),
      origin: first?.origin ?? 'other',
      subscriptionId: newer.subscriptionId ?? older.subscriptionId,
      customerId: newer.customerId ?? older.customerId,
      customer: mergeCustomer(older.customer, newer.customer),
      period: newer.period ?? older.period,
      ...mergeLines(older, newer),
      ...mergeIds(older, newer),
    }));
  return conflictEventId === undefined ? merged : { ...merged, conflictEventId };
}

/**
 * A version without lines only links ids. The lines of an invoice replace those of its checkout, in any order: a checkout may
 * lack a quantity.
 */
function mergeLines(
  older: PaymentFact,
  newer: PaymentFact,
): Pick<PaymentFact, 'lines' | 'total'> & Details {
  const source = !isListed(newer) && (isListed(older) || newer.lines.length === 0) ? older : newer;
  return {
    lines: source.lines,
    total: newer.total ?? older.total,
    ...(source.prorations === undefined ? {} : { prorations: source.prorations }),
    // A list without a problem answers the question that an earlier version left open.
    ...(source.problem === undefined ? {} : { problem: source.problem }),
  };
}

function isListed({ lines, problem }: PaymentFact): boolean {
  return lines.length > 0 && problem === undefined;
}

type Details = Pick<PaymentFact, 'prorations' | 'problem'>;

/** The fields of a payment without those that belong to its list of lines. */
function withoutDetails({
  prorations: _prorations,
  problem: _problem,
  ...payment
}: Sourced<PaymentFact>): Sourced<Omit<PaymentFact, keyof Details>> {
  return payment;
}

/** The newest version applies, with the time of the first one with the same content. */
function mergeAdjustment(versions: readonly Sourced<AdjustmentFact>[]): Sourced<AdjustmentFact> {
  return versions.reduce((older, newer) =>
    hasSameContent(older, newer) ? { ...newer, ...occurrenceOf(older) } : newer,
  );
}

function hasSameContent(a: AdjustmentFact, b: AdjustmentFact): boolean {
  return a.effect === b.effect && a.status === b.status && a.full === b.full && a.total === b.total;
}

function mergeIds(older: PaymentFact, newer: PaymentFact): Partial<PaymentFact> {
  const checkoutId = newer.checkoutId ?? older.checkoutId;
  const renews = newer.renews ?? older.renews;
  const isErased = older.recipient?.isErased === true;
  const recipient = isErased ? older.recipient : (newer.recipient ?? older.recipient);
  return {
    aliases: [...new Set([...(older.aliases ?? []), ...(newer.aliases ?? [])])],
    ...(checkoutId === undefined ? {} : { checkoutId }),
    ...(renews === undefined ? {} : { renews }),
    ...(recipient === undefined ? {} : { recipient }),
  };
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

/** Returns the newer details, and older ones for missing values. */
export function mergeCustomer(older: CustomerDetails, newer: CustomerDetails): CustomerDetails {
  return {
    email: newer.email ?? older.email,
    name: newer.name ?? older.name,
    locale: newer.locale ?? older.locale,
  };
}

/** By time, with a cancellation after a change at the same time, because some providers report whole seconds. */
function compareSnapshots(a: Sourced<SubscriptionFact>, b: Sourced<SubscriptionFact>): number {
  const ended = Number(a.status === 'canceled') - Number(b.status === 'canceled');
  return compareOccurrences(a, b) || ended || compareText(a.eventId, b.eventId);
}
