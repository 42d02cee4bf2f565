/** Finds what a repair of an event refers to: a payment of its purchase, or one that the operator names. */
import type { Queryable } from '#server/db/statement.ts';
import { notPossible } from '#server/errors.ts';

import {
  LINKING_PAYMENT,
  type BillingFact,
  type BillingPeriod,
  type PaymentFact,
} from './facts.ts';
import type { StoredEventRecord } from './queries/event-list.ts';
import { insertFacts } from './queries/ledger.ts';
import { listPurchaseEntries, type LedgerReference } from './queries/purchases.ts';
import type { Repair } from './repair-payment.ts';
import { findBuyer, groupPurchases, type Purchase } from './rules/group-purchases.ts';
import { toReferences } from './show-payment-event.ts';

/** What an operator says about the payment of an event whose body cannot be read. */
export interface NamedPayment {
  /** As refunds name it. */
  readonly transactionId?: string;
  readonly subscriptionId?: string;
}

/** The purchase of an event. */
export interface Target {
  readonly provider: StoredEventRecord['provider'];
  readonly eventId: string;
  readonly payment: PaymentFact;
  /** Of the purchase, if it is known. */
  readonly snapshots: Purchase['facts']['snapshots'];
  readonly subscriptionId: string | null;
  readonly references: readonly LedgerReference[];
  /** Whether the event had no payment that could be read. */
  readonly isNew: boolean;
}

/** Finds what a repair of an event refers to. @throws notPossible (422) with what is missing */
export async function findTarget(
  client: Queryable,
  event: StoredEventRecord,
  facts: readonly BillingFact[],
  repair: Repair,
): Promise<Target> {
  const { provider, eventId } = event;
  const own = toReferences(provider, facts);
  const purchase = await findPurchase(client, own);
  const snapshots = purchase?.facts.snapshots ?? [];
  const ids = new Set(own.map(({ id }) => id));
  const payments = purchase?.facts.payments ?? [];
  const reported = facts.find((fact) => fact.kind === 'payment');
  // The ledger has no payment of an event that failed; that of another event is not meant.
  const isFailed = event.status === 'failed' && isOfPayment(repair);
  const payment =
    payments.find(({ transactionId }) => ids.has(transactionId)) ??
    (isFailed ? undefined : (reported ?? payments[0]));
  const subscriptionId = findSubscription(facts, payments);
  const common = { provider, eventId, snapshots, subscriptionId, references: own, isNew: false };
  if (payment !== undefined) {
    requireSame(payment, repair);
    return { ...common, payment };
  }
  if (repair.kind === 'subscription' && subscriptionId !== null) {
    const none = { ...LINKING_PAYMENT, transactionId: '', occurredAt: event.occurredAt };
    return { ...common, payment: none };
  }
  if (!isOfPayment(repair)) {
    throw notPossible('The event reports no payment. Issue a license from it instead.');
  }
  return createTarget(client, event, reported, repair);
}

async function findPurchase(
  client: Queryable,
  references: readonly LedgerReference[],
): Promise<Purchase | undefined> {
  const entries = references.length === 0 ? [] : await listPurchaseEntries(client, references);
  return groupPurchases(entries)[0];
}

/** Whether a repair needs a payment, but none of its lines. */
function isOfPayment(repair: Repair): repair is Extract<Repair, { kind: 'issue' | 'address' }> {
  return repair.kind === 'issue' || repair.kind === 'address';
}

function findSubscription(
  facts: readonly BillingFact[],
  payments: readonly PaymentFact[],
): string | null {
  const all = [...facts, ...payments];
  const ids = all.flatMap((fact) => ('subscriptionId' in fact ? [fact.subscriptionId] : []));
  return ids.find((id) => id !== null) ?? null;
}

/** The event says what it is about: an operator cannot name something else. */
function requireSame({ transactionId, subscriptionId }: PaymentFact, repair: Repair): void {
  if (!isOfPayment(repair)) return;
  const isOther =
    (repair.transactionId ?? transactionId) !== transactionId ||
    (repair.subscriptionId ?? subscriptionId) !== subscriptionId;
  if (isOther) {
    throw notPossible(
      `The event names the transaction ${transactionId}: leave transaction and subscription out.`,
    );
  }
}

/**
 * Stores a payment without effect for an event that failed, to which repairs can refer.
 * @param reported what could be read of its payment, whose id refunds name
 */
async function createTarget(
  client: Queryable,
  event: StoredEventRecord,
  reported: PaymentFact | undefined,
  repair: Extract<Repair, { kind: 'issue' | 'address' }>,
): Promise<Target> {
  const { provider, eventId } = event;
  const payment = toPayment(event, reported, repair);
  const { transactionId, subscriptionId } = payment;
  const references = [{ provider, kind: 'transaction' as const, id: transactionId }];
  const known =
    subscriptionId === null
      ? []
      : [{ provider, kind: 'subscription' as const, id: subscriptionId }];
  const purchase = await findPurchase(client, [...references, ...known]);
  requireAddress(payment, purchase, repair);
  await insertFacts(client, [{ provider, eventId, fact: payment }]);
  const snapshots = purchase?.facts.snapshots ?? [];
  return { provider, eventId, payment, snapshots, subscriptionId, references, isNew: true };
}

/** @throws notPossible (422) if neither the event nor the operator names the transaction */
function toPayment(
  event: StoredEventRecord,
  reported: PaymentFact | undefined,
  named: NamedPayment,
): PaymentFact {
  // The term begins now at the latest: the event may be dated in the future.
  const occurredAt = event.occurredAt < event.receivedAt ? event.occurredAt : event.receivedAt;
  if (reported !== undefined) {
    requireSame(reported, { kind: 'address', email: '', ...named });
    const { transactionId, subscriptionId, customerId, customer, lines } = reported;
    const paid = [reported.period, ...lines.map((line) => line.period ?? null)];
    const known = paid.find((each) => each !== null) ?? null;
    const period = shift(known, event.occurredAt, occurredAt);
    const own = { transactionId, subscriptionId, customerId, customer, period };
    return { ...LINKING_PAYMENT, ...own, occurredAt };
  }
  const { transactionId, subscriptionId = null } = named;
  if (transactionId === undefined) {
    throw notPossible(
      'The payment of the event cannot be read: name its transaction (transaction_id, --transaction), so that a refund of it finds the license.',
    );
  }
  return { ...LINKING_PAYMENT, transactionId, subscriptionId, occurredAt };
}

/** A period that is dated in the future begins with its payment. */
function shift(period: BillingPeriod | null, from: Date, to: Date): BillingPeriod | null {
  if (period === null) return null;
  const move = (time: Date): Date => new Date(time.getTime() + to.getTime() - from.getTime());
  return { startsAt: move(period.startsAt), endsAt: move(period.endsAt) };
}

/** @throws notPossible (422) if nobody would receive the key */
function requireAddress(
  { customerId, customer }: PaymentFact,
  purchase: Purchase | undefined,
  repair: Repair,
): void {
  const buyer = purchase === undefined ? null : findBuyer(purchase);
  const isKnown =
    (customerId ?? customer.email ?? buyer?.customerId ?? buyer?.customer.email ?? null) !== null;
  if (isKnown || 'email' in repair) return;
  throw notPossible(
    'The buyer of the event cannot be read: name the address (email, --address) that gets the key.',
  );
}
