import type { PaymentFact, PurchaseFact } from '../facts.ts';

/** The facts about a purchase whose names do not lead to others. */
export interface OpenGroup {
  readonly name: string;
  readonly provider: string;
  readonly facts: readonly PurchaseFact[];
}

/** The customer and prices of a purchase that lacks its other half. */
interface Half {
  readonly name: string;
  readonly buyer: string;
  readonly priceIds: ReadonlySet<string>;
  readonly occurredAt: Date;
}

/**
 * Pairs each renewal of a subscription whose start is unknown with the checkout that has started it: the only earlier one of
 * the same customer and price whose subscription is unknown. They would otherwise create two licenses until the event of the
 * subscription arrives that links them. Returns the names of both.
 */
export function pairStarted(groups: readonly OpenGroup[]): [string, string][] {
  const started = groups.flatMap((group) => toStarted(group) ?? []);
  if (started.length === 0) return [];
  const checkouts = groups.flatMap((group) => toCheckout(group) ?? []);
  return started.flatMap((half): [string, string][] => {
    const [checkout, ...others] = checkouts.filter((each) => fits(half, each));
    if (checkout === undefined || others.length > 0) return [];
    const isOnly = started.filter((each) => fits(each, checkout)).length === 1;
    return isOnly ? [[half.name, checkout.name]] : [];
  });
}

/** Whether a checkout can have started a subscription. */
function fits(started: Half, checkout: Half): boolean {
  return (
    started.buyer === checkout.buyer &&
    checkout.occurredAt < started.occurredAt &&
    [...checkout.priceIds].some((priceId) => started.priceIds.has(priceId))
  );
}

/** A subscription with a renewal, but without its checkout. */
function toStarted({ name, provider, facts }: OpenGroup): Half | null {
  const payments = listPayments(facts);
  const renewals = payments.filter(({ origin }) => origin === 'renewal');
  const isLinked =
    payments.some(({ origin }) => origin === 'purchase') ||
    facts.some((fact) => fact.kind === 'subscription' && fact.transactionId !== null);
  return isLinked ? null : toHalf(name, provider, renewals);
}

/** A checkout of a subscription that is not known. */
function toCheckout({ name, provider, facts }: OpenGroup): Half | null {
  const payments = listPayments(facts);
  const isLinked = facts.some(
    (fact) =>
      fact.kind !== 'adjustment' && 'subscriptionId' in fact && fact.subscriptionId !== null,
  );
  const purchases = payments.filter(({ origin }) => origin === 'purchase');
  return isLinked ? null : toHalf(name, provider, purchases);
}

function listPayments(facts: readonly PurchaseFact[]): PaymentFact[] {
  return facts.filter((fact) => fact.kind === 'payment');
}

function toHalf(name: string, provider: string, payments: readonly PaymentFact[]): Half | null {
  const customerId = payments.find((each) => each.customerId !== null)?.customerId ?? null;
  const first = payments.toSorted((a, b) => a.occurredAt.getTime() - b.occurredAt.getTime())[0];
  const lines = payments.flatMap((payment) => payment.lines.filter(({ cycle }) => cycle !== null));
  if (customerId === null || first === undefined || lines.length === 0) return null;
  return {
    name,
    buyer: `${provider} ${customerId}`,
    priceIds: new Set(lines.map(({ priceId }) => priceId)),
    occurredAt: first.occurredAt,
  };
}

/** Returns the customers whose other purchases may be the missing half of one of these. */
export function listOpenCustomers(
  groups: readonly OpenGroup[],
): { readonly provider: string; readonly customerId: string }[] {
  return groups
    .filter((group) => toStarted(group) !== null || toCheckout(group) !== null)
    .flatMap(({ provider, facts }) =>
      listPayments(facts).flatMap(({ customerId }) =>
        customerId === null ? [] : [{ provider, customerId }],
      ),
    );
}
