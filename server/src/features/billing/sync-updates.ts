import { isDeepStrictEqual } from 'node:util';

import type { Queryable } from '#server/db/statement.ts';

import {
  deleteLicenseUpdates,
  listLicenseUpdates,
  updateUpdatesUntil,
  upsertLicenseUpdates,
} from '../licenses/queries/license-updates.ts';
import { listLicensesByIds } from '../licenses/queries/licenses.ts';
import { computeUpdatesUntil, type UpdatesEntry } from '../licenses/rules/updates-until.ts';
import { listRenewableLicenses } from './queries/renewable-licenses.ts';
import type { Buyer, Purchase } from './rules/group-purchases.ts';
import {
  listTransactions,
  type BilledLine,
  type ExistingLicense,
  type PurchaseProblem,
} from './rules/plan-licenses.ts';
import {
  explainRenewal,
  explainUseless,
  isOfLine,
  listSaleEntries,
  selectRenewable,
  toEntry,
  type SoldLine,
  type UpdatesRenewal,
} from './rules/plan-updates.ts';
import type { SyncedLicense } from './sync-licenses.ts';

/** What was sold, and the licenses after the synchronization of everything but updates. */
interface SoldLicenses {
  readonly licenses: readonly SyncedLicense[];
  readonly sold: readonly (SoldLine & Pick<ExistingLicense, 'purchase'>)[];
  readonly renewals: readonly UpdatesRenewal[];
  /** What moves the ends of updates, as stored. */
  readonly known: readonly UpdatesEntry[];
  readonly buyers: ReadonlyMap<Purchase, Buyer>;
}

/** Licenses with their present end of updates, and the renewals whose license is not known. */
export interface SyncedUpdates {
  readonly licenses: readonly SyncedLicense[];
  readonly problems: readonly PurchaseProblem[];
}

/** Lists what moves the ends of updates of the licenses of purchases, and of those that they renew. */
export async function listUpdates(
  client: Queryable,
  purchases: readonly Purchase[],
  lines: readonly BilledLine[],
): Promise<UpdatesEntry[]> {
  const licenseIds = [...new Set(lines.map(({ licenseId }) => licenseId))];
  return listLicenseUpdates(client, licenseIds, purchases.flatMap(listTransactions));
}

/** Synchronizes the ends of updates with what was sold and renewed. */
export async function syncUpdates(client: Queryable, all: SoldLicenses): Promise<SyncedUpdates> {
  const { licenses, sold, renewals, known } = all;
  const { current, outdated } = listSaleEntries(sold, known);
  if (current.length + outdated.length + renewals.length === 0) return { licenses, problems: [] };
  const applied = await applyRenewals(client, all);
  const wanted = [...current, ...applied.entries];
  const stored = await completeEntries(client, known, wanted);
  const isStored = (entry: UpdatesEntry): boolean =>
    stored.some((each) => isDeepStrictEqual({ ...each }, entry));
  const changed = wanted.filter((entry) => !isStored(entry));
  if (outdated.length > 0) await deleteLicenseUpdates(client, outdated);
  if (changed.length > 0) await upsertLicenseUpdates(client, changed);
  const replaced = [...outdated, ...changed];
  const entries = [
    ...stored.filter((each) => !replaced.some((other) => isOfLine(each, other))),
    ...changed,
  ];
  const ids = [...new Set(replaced.map(({ licenseId }) => licenseId))];
  return {
    licenses: await updateEnds(client, all, ids, entries),
    problems: [
      ...applied.problems,
      ...renewals.flatMap((renewal) => explainUseless(renewal, entries, sold)),
    ],
  };
}

/** Applies each renewal to its license. */
async function applyRenewals(
  client: Queryable,
  { sold, renewals, buyers }: SoldLicenses,
): Promise<{ readonly entries: UpdatesEntry[]; readonly problems: PurchaseProblem[] }> {
  const entries: UpdatesEntry[] = [];
  const problems: PurchaseProblem[] = [];
  for (const renewal of renewals) {
    const { purchase, draft, updates, known } = renewal;
    const key = known ?? {
      provider: purchase.facts.provider,
      ...draft,
      licenseId: await findTarget(client, renewal, sold, buyers),
    };
    const { licenseId } = key;
    if (licenseId !== null) entries.push(toEntry({ ...key, licenseId }, 'renewal', updates));
    else if (updates.withdrawnAt === null) problems.push(...explainRenewal(renewal));
  }
  return { entries, problems };
}

/** Finds the license that a purchase names, else that of the same checkout, else the only one of the buyer. */
async function findTarget(
  client: Queryable,
  renewal: UpdatesRenewal,
  sold: SoldLicenses['sold'],
  buyers: SoldLicenses['buyers'],
): Promise<string | null> {
  const { purchase, draft, named } = renewal;
  const productId = draft.product?.id;
  if (named !== null) {
    return named.license?.productId === productId ? (named.license?.licenseId ?? null) : null;
  }
  const together = sold.find(
    (each) => each.purchase === purchase && each.draft.product?.id === productId,
  );
  return together?.line.licenseId ?? findOwnLicense(client, renewal, buyers.get(purchase));
}

async function findOwnLicense(
  client: Queryable,
  { purchase, draft }: UpdatesRenewal,
  buyer: Buyer | undefined,
): Promise<string | null> {
  const email = buyer?.customer.email ?? null;
  const customerId = buyer?.customerId ?? null;
  const { provider } = purchase.facts;
  const found = await listRenewableLicenses(client, draft.product?.id ?? '', {
    provider,
    customerId,
    email,
  });
  return selectRenewable(found, email);
}

/** Reads the entries of licenses that were not known to be concerned. */
async function completeEntries(
  client: Queryable,
  known: readonly UpdatesEntry[],
  wanted: readonly UpdatesEntry[],
): Promise<readonly UpdatesEntry[]> {
  const read = new Set(known.map(({ licenseId }) => licenseId));
  const unread = wanted.map(({ licenseId }) => licenseId).filter((id) => !read.has(id));
  if (unread.length === 0) return known;
  return [...known, ...(await listLicenseUpdates(client, [...new Set(unread)], []))];
}

/** Updates the ends of updates, and returns all licenses in their present state. */
async function updateEnds(
  client: Queryable,
  { licenses, sold, renewals, buyers }: SoldLicenses,
  ids: readonly string[],
  entries: readonly UpdatesEntry[],
): Promise<SyncedLicense[]> {
  if (ids.length === 0) return [...licenses];
  const entriesOf = Map.groupBy(entries, ({ licenseId }) => licenseId);
  const before = await listLicensesByIds(client, ids);
  const ends = ids.map((id) => ({
    id,
    updatesUntil: computeUpdatesUntil(entriesOf.get(id) ?? []),
  }));
  const changed = await updateUpdatesUntil(client, ends);
  const present = new Map(changed.map((license) => [license.id, license]));
  const synced = new Set(licenses.map(({ license }) => license.id));
  const purchaseOf = new Map([
    ...renewals.flatMap(({ purchase, draft }) =>
      entries
        .filter((each) => each.transactionId === draft.transactionId)
        .map(({ licenseId }) => [licenseId, purchase] as const),
    ),
    ...sold.map(({ purchase, line }) => [line.licenseId, purchase] as const),
  ]);
  const others = before.flatMap((previous) => {
    const license = present.get(previous.id);
    const purchase = purchaseOf.get(previous.id);
    if (license === undefined || purchase === undefined || synced.has(previous.id)) return [];
    const { provider } = purchase.facts;
    const transactionId = entriesOf.get(license.id)?.at(-1)?.transactionId ?? '';
    const customerId = buyers.get(purchase)?.customerId ?? null;
    return [{ license, before: previous, provider, transactionId, customerId }];
  });
  return [
    ...licenses.map((each) => ({ ...each, license: present.get(each.license.id) ?? each.license })),
    ...others,
  ];
}
