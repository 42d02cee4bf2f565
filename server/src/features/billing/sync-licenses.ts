import { isTestSource, providerOf } from '@latchkey/contract';

import type { Queryable } from '#server/db/statement.ts';

import { createBilledLicenses } from '../licenses/issue.ts';
import {
  cancelLicenses,
  updateBilledLicenses,
  type ChangedLicense,
} from '../licenses/queries/billed-licenses.ts';
import {
  deleteLicenseTransactions,
  upsertLicenseTransactions,
  type LicenseOrigin,
} from '../licenses/queries/license-transactions.ts';
import { listAdoptableLicenses } from '../licenses/queries/license-names.ts';
import { listLicensesByIds, type LicenseRecord } from '../licenses/queries/licenses.ts';
import type { ApplyDependencies } from './dependencies.ts';
import { UNKNOWN_CUSTOMER } from './facts.ts';
import { findEarlierPaidBack } from './find-earlier-paid-back.ts';
import { addSharing, type SharedPurchases } from './find-sharing.ts';
import {
  insertBilledLines,
  listCustomers,
  replaceBilledLines,
  type CustomerKey,
  type StoredCustomer,
} from './queries/purchases.ts';
import type { RareRows } from './queries/rare-rows.ts';
import { listAssignedPrices } from './queries/repairs.ts';
import { recordSales, type CreatedLine } from './record-sales.ts';
import { compareCheckouts } from './rules/compare-checkouts.ts';
import { listNames, listOpenPurchases } from './rules/find-sale.ts';
import { findRecipient } from './rules/find-recipient.ts';
import { findBuyer, type Buyer, type Purchase } from './rules/group-purchases.ts';
import { mergeCustomer } from './rules/merge-versions.ts';
import {
  planLicenses,
  type Checkout,
  type LicensePlans,
  type ExistingLicense,
  type MissingLicense,
  type OrphanedLicense,
  type UnmatchedPurchase,
  explainEmptyPool,
} from './rules/plan-licenses.ts';
import { findRenewedName, type KnownBuyer } from './rules/plan-renewals.ts';
import type { LicenseDraft } from './rules/compute-licenses.ts';
import { findPurchase } from './rules/paid-lines.ts';
import { findBuyerProblems } from './rules/find-buyer-problems.ts';
import { repairCustomer, withAssignedPrices } from './rules/repairs.ts';
import { listUpdates, syncUpdates } from './sync-updates.ts';

/** The result of a synchronization. */
export interface SyncedLicenses {
  /** The purchases, and those that share a license with them. */
  readonly purchases: readonly Purchase[];
  /** Those that were created or changed. */
  readonly licenses: readonly SyncedLicense[];
  readonly unmatched: readonly UnmatchedPurchase[];
  readonly problems: LicensePlans['problems'];
  /** Those whose license was created although their checkout is unknown. */
  readonly startedEarlier: readonly Purchase[];
  /** The payers of purchases that name a license, whose details are unknown. */
  readonly unknownCustomers: readonly CustomerKey[];
}

/**
 * Synchronizes the licenses of purchases: creates missing ones, updates those that differ, cancels orphaned ones.
 * @param rare as found with the lock of billing
 */
export async function syncLicenses(
  deps: ApplyDependencies,
  client: Queryable,
  changed: readonly Purchase[],
  rare: RareRows,
): Promise<SyncedLicenses> {
  const { purchases, lines, renewed } = await addSharing(deps, client, changed, rare);
  const names = rare.names ? listOpenPurchases(purchases, lines).flatMap(listNames) : [];
  const adoptable = names.length === 0 ? [] : await listAdoptableLicenses(client, names);
  const earlierProblems = rare.names ? await findEarlierPaidBack(client, purchases) : [];
  const updates = rare.updates ? await listUpdates(client, purchases, lines) : [];
  const { buyers, buyerProblems, unknownCustomers } = await findBuyers(client, purchases);
  const shared = { purchases, lines, renewed, adoptable, updates, buyers };
  const plans = await planAll(deps, client, shared);
  const created = await createLicenses(deps, client, plans.missing, buyers);
  const isCreated = new Set(created.map(({ draft }) => draft));
  const withoutKey = plans.missing.filter(({ draft }) => !isCreated.has(draft));
  const updated = await changeLicenses(deps, client, plans, buyers);
  await recordSales(deps, client, created, plans.existing);
  const synced = await syncUpdates(client, {
    licenses: [...created.map((each) => each.synced), ...updated],
    sold: [...created, ...plans.existing],
    renewals: plans.renewals,
    known: updates,
    buyers,
  });
  return {
    purchases,
    licenses: synced.licenses,
    unmatched: plans.unmatched,
    // Of two problems of an event, the last one is reported.
    problems: [
      ...buyerProblems,
      ...earlierProblems,
      ...plans.problems,
      ...synced.problems,
      ...withoutKey.flatMap(explainEmptyPool),
    ],
    startedEarlier: created.map(({ purchase }) => purchase).filter(isStartedEarlier),
    unknownCustomers,
  };
}

/** Plans by the catalogue; only where that is not enough, also by the prices that operators assigned to products. */
async function planAll(
  deps: ApplyDependencies,
  client: Queryable,
  { purchases, lines, adoptable, renewed, updates, buyers }: PlannedPurchases,
): Promise<LicensePlans> {
  const catalog = deps.catalog();
  const named = { licenses: renewed, buyerOf: (each: Purchase) => buyers.get(each) };
  const plans = planLicenses(purchases, lines, catalog, adoptable, named, updates);
  if (plans.unmatched.length + plans.problems.length === 0) return plans;
  const assigned = await listAssignedPrices(client);
  if (assigned.length === 0) return plans;
  const extended = withAssignedPrices(catalog, assigned);
  return planLicenses(purchases, lines, extended, adoptable, named, updates);
}

interface PlannedPurchases extends SharedPurchases {
  readonly adoptable: NonNullable<Parameters<typeof planLicenses>[3]>;
  readonly updates: NonNullable<Parameters<typeof planLicenses>[5]>;
  readonly buyers: Buyers;
}

/** At Creem the checkout arrives together with its first payment, in any order. */
function isStartedEarlier({ facts }: Purchase): boolean {
  return (
    providerOf(facts.provider) !== 'creem' &&
    findPurchase(facts.payments) === null &&
    facts.snapshots.every(({ transactionId }) => transactionId === null)
  );
}

/** A license after the synchronization, and its source. */
export interface SyncedLicense {
  readonly license: LicenseRecord;
  /** Its previous state; null if it was created. */
  readonly before: LicenseRecord | null;
  readonly provider: string;
  /** The transaction at its creation; the checkout may have become known later. */
  readonly transactionId: string;
  readonly customerId: string | null;
}

type Buyers = ReadonlyMap<Purchase, KnownBuyer>;

/**
 * Finds the buyer of each purchase, or who gets it as a gift. The stored details of the customer take precedence over those
 * in payments and snapshots.
 */
async function findBuyers(client: Queryable, purchases: readonly Purchase[]): Promise<FoundBuyers> {
  const buyers = purchases.map((purchase) => ({ purchase, ...findBuyer(purchase) }));
  const keys = buyers.flatMap(({ purchase, customerId }) =>
    customerId === null ? [] : [{ provider: purchase.facts.provider, customerId }],
  );
  const stored = keys.length === 0 ? [] : await listCustomers(client, keys);
  const known = buyers.map(
    ({ purchase, ...buyer }) => [purchase, withStoredDetails(purchase, buyer, stored)] as const,
  );
  const unknownCustomers = known.flatMap(([purchase, { customerId, payer }]) => {
    const { provider } = purchase.facts;
    const isStored = stored.some((each) => isCustomer(each, { provider, customerId }));
    if (customerId === null || payer.email !== null || isStored) return [];
    return findRenewedName(purchase) === null ? [] : [{ provider, customerId }];
  });
  const buyerProblems = findBuyerProblems(purchases, stored);
  return { buyers: new Map(known), buyerProblems, unknownCustomers };
}

interface FoundBuyers extends Pick<SyncedLicenses, 'unknownCustomers'> {
  readonly buyers: Buyers;
  readonly buyerProblems: LicensePlans['problems'];
}

function isCustomer(
  one: CustomerKey,
  other: { readonly provider: string; readonly customerId: string | null },
): boolean {
  return one.customerId === other.customerId && one.provider === other.provider;
}

function withStoredDetails(
  purchase: Purchase,
  { customerId, customer }: Buyer,
  stored: readonly StoredCustomer[],
): KnownBuyer {
  const { provider } = purchase.facts;
  const details = stored.find((each) => isCustomer(each, { provider, customerId }));
  const recipient = findRecipient(purchase);
  const payer = mergeCustomer(customer, details ?? UNKNOWN_CUSTOMER);
  const owner = recipient === null ? payer : { ...recipient, locale: payer.locale };
  return { customerId, customer: repairCustomer(owner, purchase), payer };
}

/** Creates licenses, records the line of each, and returns them in the order of the plans. */
async function createLicenses(
  deps: ApplyDependencies,
  client: Queryable,
  missing: readonly MissingLicense[],
  buyers: Buyers,
): Promise<(CreatedLine & { readonly synced: SyncedLicense })[]> {
  if (missing.length === 0) return [];
  const newLicenses = missing.map(({ purchase, draft, terms }) => ({
    ...toBilledFacts(draft, buyers.get(purchase)),
    isTest: isTestSource(purchase.facts.provider),
    terms,
  }));
  const licenses = await createBilledLicenses(deps, client, newLicenses);
  const created = missing.flatMap((plan, index) => {
    const license = licenses[index];
    if (license === undefined || license === null) return [];
    const { provider } = plan.purchase.facts;
    const { transactionId, lineKey } = plan.draft;
    const line = { provider, transactionId, lineKey, licenseId: license.id, checkouts: [] };
    return [{ ...plan, line, license }];
  });
  await insertBilledLines(
    client,
    created.map(({ line }) => line),
  );
  await recordCheckoutIds(client, created);
  return created.map((plan) => ({
    ...plan,
    synced: toSyncedLicense(plan, null, plan.license, buyers),
  }));
}

/** Updates existing licenses, cancels orphaned ones, and returns those that changed. */
async function changeLicenses(
  deps: ApplyDependencies,
  client: Queryable,
  plans: Pick<LicensePlans, 'existing' | 'orphaned' | 'updates'>,
  buyers: Buyers,
): Promise<SyncedLicense[]> {
  const planOf = new Map(
    [...plans.orphaned, ...plans.updates].map((plan) => [plan.line.licenseId, plan]),
  );
  if (planOf.size === 0) return [];
  const adopted = plans.existing.filter(
    ({ adopted: license, isNewRenewal, isTakenOver }) =>
      license !== undefined || isNewRenewal === true || isTakenOver === true,
  );
  if (adopted.length > 0) {
    await replaceBilledLines(
      client,
      adopted.map(({ line }) => line),
    );
  }
  const updated = await updateLicenses(client, plans.updates, buyers);
  await recordCheckoutIds(client, plans.existing);
  const canceled = await cancelOrphaned(deps, client, plans.orphaned);
  return [...updated, ...canceled].flatMap(({ before, license }) => {
    const plan = planOf.get(license.id);
    return plan === undefined ? [] : [toSyncedLicense(plan, before, license, buyers)];
  });
}

async function updateLicenses(
  client: Queryable,
  updates: readonly ExistingLicense[],
  buyers: Buyers,
): Promise<ChangedLicense[]> {
  if (updates.length === 0) return [];
  return updateBilledLicenses(
    client,
    updates.map(({ purchase, owner = purchase, draft, terms, line }) => ({
      ...toBilledFacts(draft, owner === null ? undefined : buyers.get(owner)),
      id: line.licenseId,
      terms,
    })),
  );
}

async function cancelOrphaned(
  deps: ApplyDependencies,
  client: Queryable,
  orphaned: readonly OrphanedLicense[],
): Promise<ChangedLicense[]> {
  if (orphaned.length === 0) return [];
  const ids = orphaned.map(({ line }) => line.licenseId);
  const previous = new Map((await listLicensesByIds(client, ids)).map((each) => [each.id, each]));
  const canceled = await cancelLicenses(client, ids, deps.clock.now());
  return canceled.flatMap((license) => {
    const before = previous.get(license.id);
    return before === undefined ? [] : [{ license, before }];
  });
}

function toBilledFacts(draft: LicenseDraft, buyer: Buyer | undefined) {
  const { subscription, expiresAt, cancelScheduledFor } = draft;
  const { canceledAt, pausedAt, disputedAt, refundedAt } = draft;
  return {
    // A trial of the provider that nobody paid has no grace period, and so is stored as a term.
    subscription: subscription && draft.hasGrace,
    expiresAt,
    cancelScheduledFor,
    canceledAt,
    pausedAt,
    disputedAt,
    refundedAt,
    customerEmail: buyer?.customer.email ?? null,
    customerName: buyer?.customer.name ?? null,
  };
}

function toSyncedLicense(
  { purchase, line }: OrphanedLicense,
  before: LicenseRecord | null,
  license: LicenseRecord,
  buyers: Buyers,
): SyncedLicense {
  const { provider, transactionId } = line;
  const customerId = buyers.get(purchase)?.customerId ?? null;
  return { license, before, provider, transactionId, customerId };
}

/**
 * Stores the checkout ids by which `check` finds licenses, and deletes all other ids of theirs: these may be guessable, or
 * come from a time when the checkout was unknown. Sends nothing about what is stored already.
 */
async function recordCheckoutIds(
  client: Queryable,
  licenses: readonly CreatedLine[],
): Promise<void> {
  const changes = licenses.map(({ draft, line: { licenseId, ...line } }) => {
    const { missing, outdated } = compareCheckouts(draft, line);
    const withLicense = (checkout: Checkout): LicenseOrigin => ({ ...checkout, licenseId });
    return { missing: missing.map(withLicense), outdated: outdated.map(withLicense) };
  });
  const missing = changes.flatMap((each) => each.missing);
  const outdated = changes.flatMap((each) => each.outdated);
  if (missing.length > 0) await upsertLicenseTransactions(client, missing);
  if (outdated.length > 0) await deleteLicenseTransactions(client, outdated);
}
