/** Operators repair payments: each repair is a fact that the rules read beside those of the provider. */
import type { PaymentRepairRequest } from '@latchkey/contract';
import { v7 as makeUuid } from 'uuid';

import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';
import { missingField, noSuch, notPossible } from '#server/errors.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import { insertLicenseNames } from '../licenses/queries/license-names.ts';
import { findLicense } from '../licenses/queries/licenses.ts';
import { recomputePurchases } from './apply-events.ts';
import type { ApplyDependencies } from './dependencies.ts';
import type { PaymentFact } from './facts.ts';
import { listUnmatchedOfProvider } from './queries/operator-events.ts';
import type { StoredEventRecord } from './queries/event-list.ts';
import { updateEventOutcomes } from './queries/events.ts';
import { lockBilling } from './queries/ledger.ts';
import { listTransactionsOfLicense, type LedgerReference } from './queries/purchases.ts';
import { insertRepair } from './queries/repairs.ts';
import { findTarget, type NamedPayment, type Target } from './repair-target.ts';
import { endOfIssued, isOfSubscription } from './rules/issued.ts';
import {
  readFacts,
  requireEvent,
  toReferences,
  type PaymentEventKey,
} from './show-payment-event.ts';

/** What an operator says about a payment. */
export type Repair =
  | {
      readonly kind: 'price';
      readonly productId: string;
      /** Null: the only price of the payment. */
      readonly priceId: string | null;
      /** Whether it is so in every purchase. */
      readonly forAll: boolean;
    }
  | (NamedPayment & {
      readonly kind: 'issue';
      readonly productId: string;
      readonly quantity: number;
      /** Where the key goes. Absent: to the address of the purchase. */
      readonly email?: string;
    })
  | { readonly kind: 'subscription'; readonly licenseId: string }
  | (NamedPayment & { readonly kind: 'address'; readonly email: string });

/** Who repairs, and why. */
interface RepairReason {
  readonly actor: string;
  readonly reason: string;
}

/**
 * Stores a repair of an event's purchase, recomputes the purchase, and writes an audit entry. Replays keep it.
 * @throws notFound, noSuch (404), notPossible (422) if the event names nothing that can be repaired so
 */
export async function repairPayment(
  deps: ApplyDependencies,
  key: PaymentEventKey,
  repair: Repair,
  { actor, reason }: RepairReason,
): Promise<void> {
  const event = await requireEvent(deps, key);
  const facts = await readFacts(deps, event);
  if ('productId' in repair) requireProduct(deps, repair.productId);
  await inTransaction(deps.pool, async (client) => {
    await lockBilling(client);
    const target = await findTarget(client, event, facts, repair);
    requireEnd(deps, target, repair);
    const details = await storeRepair(deps, client, target, repair);
    await recomputePurchases(deps, client, target.references);
    if (target.isNew) await recordRepaired(client, event);
    await insertAuditEntry(client, {
      occurredAt: deps.clock.now(),
      actor,
      reason,
      action: `webhook.repair_${repair.kind}`,
      subjectId: event.eventId,
      details: { provider: event.provider, ...details },
    });
  });
  if (repair.kind === 'price' && repair.forAll) await recomputeAll(deps, event.provider);
}

function requireProduct({ catalog }: ApplyDependencies, productId: string): void {
  if (!catalog().products.has(productId)) {
    throw noSuch(`The catalogue has no product ${productId}.`);
  }
}

/** A payment of a subscription pays a time, which the license ends with. @throws notPossible (422) */
function requireEnd(deps: ApplyDependencies, { payment, snapshots }: Target, repair: Repair): void {
  if (repair.kind !== 'issue' || !isOfSubscription({ snapshots }, payment)) return;
  const product = deps.catalog().products.get(repair.productId) ?? null;
  if (endOfIssued(payment, product, true) !== null) return;
  throw notPossible(
    'The payment is of a subscription, and neither it nor the product says how long it pays. Issue a license with an end instead: latchkey license issue --transaction, with the id of this payment.',
  );
}

/** An event that could not be applied counts as applied by the repair. */
async function recordRepaired(client: Queryable, event: StoredEventRecord): Promise<void> {
  await updateEventOutcomes(client, [
    { ...event, status: 'processed', message: null, nextAttemptAt: null },
  ]);
}

type Details = Readonly<Record<string, string | number | boolean | null>>;

/** Stores a repair. @returns what it says, without an address */
async function storeRepair(
  { clock }: ApplyDependencies,
  client: Queryable,
  { provider, payment, subscriptionId, eventId: repairedEventId }: Target,
  repair: Repair,
): Promise<Details> {
  const { transactionId } = payment;
  const common = {
    kind: 'repair',
    occurredAt: clock.now(),
    transactionId,
    repairedEventId,
  } as const;
  const store = (fact: Parameters<typeof insertRepair>[1]['fact']): Promise<void> =>
    insertRepair(client, { repairId: makeUuid(), provider, fact });
  switch (repair.kind) {
    case 'price': {
      const { productId, forAll } = repair;
      const priceId = repair.priceId ?? findOnlyPrice(payment);
      const scope = forAll ? '' : transactionId;
      await store({ ...common, transactionId: scope, repair: 'price', priceId, productId });
      return { price: priceId, product: productId, for_all: forAll };
    }
    case 'issue': {
      const { productId, quantity, email } = repair;
      await store({ ...common, repair: 'issue', productId, quantity });
      if (email !== undefined) await store({ ...common, repair: 'address', email });
      return { transaction: transactionId, product: productId, quantity };
    }
    case 'address':
      await store({ ...common, repair: 'address', email: repair.email });
      return { transaction: transactionId };
    case 'subscription':
      return linkSubscription(client, provider, subscriptionId, repair.licenseId);
  }
}

function findOnlyPrice({ lines }: PaymentFact): string {
  const [priceId, ...others] = new Set(lines.map((line) => line.priceId));
  if (priceId !== undefined && others.length === 0) return priceId;
  const problem = priceId === undefined ? 'no price' : 'several prices';
  throw notPossible(`The payment names ${problem}: name the price that is meant.`);
}

async function linkSubscription(
  client: Queryable,
  provider: string,
  subscriptionId: string | null,
  licenseId: string,
): Promise<Details> {
  if (subscriptionId === null) throw notPossible('The event names no subscription.');
  const license = await findLicense(client, licenseId);
  if (license === null) throw noSuch('No such license.');
  if ((await listTransactionsOfLicense(client, licenseId)).length > 0) {
    throw notPossible('The license belongs to another purchase already.');
  }
  await insertLicenseNames(client, [
    { licenseId, kind: 'subscription', name: subscriptionId, provider },
  ]);
  return { subscription: subscriptionId, license: licenseId };
}

/** In a transaction, which holds the lock of billing. */
const PAGE_SIZE = 20;

/** Recomputes the purchases of a provider that lack a product, page by page. */
async function recomputeAll(
  deps: ApplyDependencies,
  provider: StoredEventRecord['provider'],
): Promise<void> {
  for (let after = ''; ;) {
    const eventIds: string[] = await listUnmatchedOfProvider(deps.pool, provider, after, PAGE_SIZE);
    const last = eventIds.at(-1);
    if (last === undefined) return;
    await recomputeEvents(deps, provider, eventIds);
    after = last;
  }
}

async function recomputeEvents(
  deps: ApplyDependencies,
  provider: StoredEventRecord['provider'],
  eventIds: readonly string[],
): Promise<void> {
  const references: LedgerReference[] = [];
  for (const eventId of eventIds) {
    const event = await requireEvent(deps, { provider, event_id: eventId });
    references.push(...toReferences(provider, await readFacts(deps, event)));
  }
  await inTransaction(deps.pool, async (client) => {
    await lockBilling(client);
    await recomputePurchases(deps, client, references);
  });
}

/** Reads a repair of the interface. @throws invalidRequest (422) if a field is missing */
export function readRepair(body: PaymentRepairRequest): Repair {
  switch (body.kind) {
    case 'price':
      return {
        kind: 'price',
        productId: requireField(body.product, 'product'),
        priceId: body.price_id ?? null,
        forAll: body.for_all ?? false,
      };
    case 'issue':
      return {
        kind: 'issue',
        productId: requireField(body.product, 'product'),
        quantity: body.quantity ?? 1,
        ...(body.email === undefined ? {} : { email: body.email }),
        ...readNames(body),
      };
    case 'subscription':
      return { kind: 'subscription', licenseId: requireField(body.license_id, 'license_id') };
    case 'address':
      return { kind: 'address', email: requireField(body.email, 'email'), ...readNames(body) };
  }
}

function readNames({
  transaction_id: transactionId,
  subscription_id: subscriptionId,
}: PaymentRepairRequest): NamedPayment {
  return {
    ...(transactionId === undefined ? {} : { transactionId }),
    ...(subscriptionId === undefined ? {} : { subscriptionId }),
  };
}

function requireField(value: string | undefined, name: string): string {
  if (value !== undefined) return value;
  throw missingField(name);
}
