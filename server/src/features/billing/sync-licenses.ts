import type { Queryable } from '#server/db/statement.ts';

import { createBilledLicenses, type IssuingContext } from '../licenses/create-billed.ts';
import { cancelLicenses, updateBilledLicenses } from '../licenses/queries/billed-licenses.ts';
import {
  deleteLicenseTransactions,
  upsertLicenseTransactions,
  type LicenseOrigin,
} from '../licenses/queries/license-transactions.ts';
import { listLicensesByIds, type LicenseRecord } from '../licenses/queries/licenses.ts';
import { findBuyers, type Buyer } from './find-buyers.ts';
import { insertBilledLines, listBilledLines } from './queries/purchases.ts';
import type { Purchase } from './rules/group-purchases.ts';
import {
  listTransactions,
  planLicenses,
  type LicensePlans,
  type ExistingLicense,
  type MissingLicense,
  type OrphanedLicense,
  type UnmatchedPurchase,
} from './rules/plan-licenses.ts';
import type { LicenseDraft } from './rules/purchase.ts';

/** What has become of purchases. */
export interface SyncedLicenses {
  readonly created: readonly SyncedLicense[];
  readonly changed: readonly ChangedLicense[];
  readonly unmatched: readonly UnmatchedPurchase[];
}

/**
 * Makes the licenses of purchases what they are to be: creates those that are missing, changes those that differ, cancels
 * those whose line is no more.
 */
export async function syncLicenses(
  ctx: IssuingContext,
  client: Queryable,
  purchases: readonly Purchase[],
): Promise<SyncedLicenses> {
  const lines = await listBilledLines(client, purchases.flatMap(listTransactions));
  const found = await findBuyers(client, purchases);
  const buyers = new Map(purchases.map((purchase, index) => [purchase, found[index]]));
  const catalog = ctx.catalog();
  const { missing, existing, orphaned, unmatched } = planLicenses(
    purchases,
    lines,
    (provider, priceId) => catalog.findPrice(provider, priceId),
  );
  const created = await createLicenses(ctx, client, missing, buyers);
  const changed = await changeLicenses(ctx, client, { existing, orphaned }, buyers);
  return { created, changed, unmatched };
}

/** A license as it is now, and where it comes from. */
export interface SyncedLicense {
  readonly license: LicenseRecord;
  readonly provider: string;
  /** The transaction that it was made under, which may not be the checkout that is known by now. */
  readonly transactionId: string;
  readonly customerId: string | null;
}

/** One that was another before. */
interface ChangedLicense extends SyncedLicense {
  readonly before: LicenseRecord;
}

/** Who bought; nothing where nobody is known. */
type Buyers = ReadonlyMap<Purchase, Buyer | undefined>;

/** Creates licenses and records which line made each; gives them, in the order of the plans. */
async function createLicenses(
  ctx: IssuingContext,
  client: Queryable,
  missing: readonly MissingLicense[],
  buyers: Buyers,
): Promise<SyncedLicense[]> {
  if (missing.length === 0) return [];
  const orders = missing.map(({ purchase, draft, terms }) => ({
    ...toBilledFacts(draft, buyers.get(purchase)),
    terms,
  }));
  const licenses = await createBilledLicenses(ctx, client, orders);
  const created = missing.flatMap((plan, index) => {
    const license = licenses[index];
    if (license === undefined) return [];
    const { provider } = plan.purchase.facts;
    const { transactionId, lineKey } = plan.draft;
    const line = { provider, transactionId, lineKey, licenseId: license.id };
    return [{ ...plan, line, license }];
  });
  await insertBilledLines(
    client,
    created.map(({ line }) => line),
  );
  await recordCheckoutIds(client, created);
  return created.map(({ license, ...plan }) => toSettled(plan, license, buyers));
}

/** Updates licenses that are there and cancels the orphaned; gives those that this has changed. */
async function changeLicenses(
  ctx: IssuingContext,
  client: Queryable,
  plans: Pick<LicensePlans, 'existing' | 'orphaned'>,
  buyers: Buyers,
): Promise<ChangedLicense[]> {
  const planOf = new Map(
    [...plans.orphaned, ...plans.existing].map((plan) => [plan.line.licenseId, plan]),
  );
  if (planOf.size === 0) return [];
  const before = await listLicensesByIds(client, [...planOf.keys()]);
  const updated = await updateLicenses(client, plans.existing, buyers);
  const canceled = await cancelOrphaned(ctx, client, plans.orphaned);
  const changed = new Map([...updated, ...canceled].map((license) => [license.id, license]));
  return before.flatMap((was) => {
    const license = changed.get(was.id);
    const plan = planOf.get(was.id);
    if (license === undefined || plan === undefined) return [];
    return [{ ...toSettled(plan, license, buyers), before: was }];
  });
}

async function updateLicenses(
  client: Queryable,
  existing: readonly ExistingLicense[],
  buyers: Buyers,
): Promise<LicenseRecord[]> {
  if (existing.length === 0) return [];
  const updated = await updateBilledLicenses(
    client,
    existing.map(({ purchase, draft, terms, line }) => ({
      ...toBilledFacts(draft, buyers.get(purchase)),
      id: line.licenseId,
      terms,
    })),
  );
  await recordCheckoutIds(client, existing);
  return updated;
}

async function cancelOrphaned(
  ctx: IssuingContext,
  client: Queryable,
  orphaned: readonly OrphanedLicense[],
): Promise<LicenseRecord[]> {
  if (orphaned.length === 0) return [];
  const ids = orphaned.map(({ line }) => line.licenseId);
  return cancelLicenses(client, ids, ctx.clock.now());
}

function toBilledFacts(draft: LicenseDraft, buyer: Buyer | undefined) {
  const { subscription, expiresAt, cancelScheduledFor } = draft;
  const { canceledAt, pausedAt, disputedAt, refundedAt } = draft;
  return {
    subscription,
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

function toSettled(
  { purchase, line }: OrphanedLicense,
  license: LicenseRecord,
  buyers: Buyers,
): SyncedLicense {
  const { provider, transactionId } = line;
  const customerId = buyers.get(purchase)?.customerId ?? null;
  return { license, provider, transactionId, customerId };
}

type Recorded = Pick<ExistingLicense, 'draft' | 'line'>;

/**
 * Lets `check` find licenses by the id that the front end knows, and by no other: not by one that can be guessed, nor by
 * the transaction that one was made under while the checkout was not known.
 * @param made one or more
 */
async function recordCheckoutIds(client: Queryable, existing: readonly Recorded[]): Promise<void> {
  await upsertLicenseTransactions(
    client,
    existing.map((each) => toOrigin(each, each.draft.checkoutId)),
  );
  const former = existing.flatMap((each) =>
    [each.draft.transactionId, each.line.transactionId]
      .filter((id) => id !== each.draft.checkoutId)
      .map((id) => toOrigin(each, id)),
  );
  if (former.length > 0) await deleteLicenseTransactions(client, former);
}

function toOrigin({ draft, line }: Recorded, transactionId: string): LicenseOrigin {
  return { transactionId, licenseId: line.licenseId, position: draft.position };
}
