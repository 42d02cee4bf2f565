import type { UpdatesEntry } from '../../licenses/rules/updates-until.ts';
import type { LicenseDraft } from './compute-licenses.ts';
import type { DraftUpdates } from './draft-updates.ts';
import { ATTENTION_PREFIX } from './event-state.ts';
import type { Purchase } from './group-purchases.ts';
import { isIssuedKey } from './issued.ts';
import type { ExistingLicense, PurchaseProblem, SoldCatalog } from './plan-licenses.ts';
import { findNamed, type NamedLicense, type NamedLicenses } from './plan-renewals.ts';

/** A line that renews the updates of a license. */
export interface UpdatesRenewal {
  readonly purchase: Purchase;
  readonly draft: LicenseDraft;
  readonly updates: DraftUpdates;
  /** What it renews already; null: its license is not known yet. */
  readonly known: UpdatesEntry | null;
  /** The license that the purchase names, or why it cannot be renewed; null: it names none. */
  readonly named: NamedLicense | null;
}

/** Returns what a line renews, if it sells updates only; null: it sells a license. @param known what the purchase renews */
export function toUpdatesRenewal(
  purchase: Purchase,
  draft: LicenseDraft,
  known: readonly UpdatesEntry[],
  renewed: NamedLicenses,
): UpdatesRenewal | null {
  const { lineKey, product, updates } = draft;
  if (product?.givesUpdates !== true || updates === null) return null;
  const own = known.find((each) => each.lineKey === lineKey) ?? null;
  const named = findNamed(purchase, renewed, null);
  return { purchase, draft, updates, known: own, named };
}

/** Identifies what moves the end of updates of a license. */
type EntryKey = Pick<UpdatesEntry, 'licenseId' | 'provider' | 'transactionId' | 'lineKey'>;

/** Returns what a line does to the end of updates of a license. */
export function toEntry(
  { licenseId, provider, transactionId, lineKey }: EntryKey,
  kind: UpdatesEntry['kind'],
  { days, endsAt, paidAt, withdrawnAt }: DraftUpdates,
): UpdatesEntry {
  return {
    licenseId,
    provider,
    transactionId,
    lineKey,
    kind,
    days,
    endsAt,
    paidAt,
    withdrawnAt,
  };
}

/** Whether two entries are of the same line. */
export function isOfLine(one: EntryKey, other: EntryKey): boolean {
  return (
    one.licenseId === other.licenseId &&
    one.provider === other.provider &&
    one.transactionId === other.transactionId &&
    one.lineKey === other.lineKey
  );
}

/** A line of a license, and what the license was before its first renewal. */
export type SoldLine = Pick<ExistingLicense, 'draft' | 'line' | 'baseSale' | 'hasNoEffect'>;

/** What lines sell, and what was stored of them that they do not sell any more. */
interface SaleEntries {
  readonly current: readonly UpdatesEntry[];
  readonly outdated: readonly UpdatesEntry[];
}

/**
 * Lists the updates that were sold with licenses. The newest upgrade decides whether there is an end, until it is refunded. A purchase
 * that changes nothing of its license does not change its updates.
 * @param sold with all lines of each license
 * @param known as stored
 * @returns `outdated`: stored before, of lines or licenses that now have all updates
 */
export function listSaleEntries(
  sold: readonly SoldLine[],
  known: readonly UpdatesEntry[],
): SaleEntries {
  const licenses = [...Map.groupBy(sold, ({ line }) => line.licenseId).values()];
  const listed = licenses.map((lines) => listOfLicense(lines, known));
  return {
    current: listed.flatMap(({ current }) => current),
    outdated: listed.flatMap(({ outdated }) => outdated),
  };
}

function listOfLicense(lines: readonly SoldLine[], known: readonly UpdatesEntry[]): SaleEntries {
  const base = findBaseProduct(lines);
  const effective = lines.filter(({ hasNoEffect }) => hasNoEffect !== true);
  const upgrades = effective
    .filter((each) => isUpgrade(each, base))
    .sort((a, b) => a.draft.soldAt.getTime() - b.draft.soldAt.getTime());
  const hasAll = upgrades.at(-1)?.draft.updates === null;
  const limited = effective.flatMap(({ line, draft: { updates } }) =>
    updates === null ? [] : [{ line, updates }],
  );
  const current = limited.map(({ line, updates }) => {
    const isSale = line.renews !== true || upgrades.some((each) => each.line === line);
    return toEntry(line, isSale ? 'sale' : 'renewal', updates);
  });
  const unlimited = lines.filter(
    ({ draft, hasNoEffect }) =>
      draft.product !== null && (draft.updates === null || hasNoEffect === true),
  );
  const outdated = known.filter(
    (entry) =>
      entry.kind !== 'manual' &&
      (isTakenOver(entry, lines) ||
        unlimited.some(({ line }) => isOfLine(entry, line)) ||
        (hasAll && limited.some(({ line }) => isOfLine(entry, line)))),
  );
  return { current: hasAll ? [] : current, outdated };
}

/** Whether an operator issued it, and the line of a subscription took the license over. */
function isTakenOver(entry: UpdatesEntry, lines: readonly SoldLine[]): boolean {
  const isOfLicense = lines.some(({ line }) => line.licenseId === entry.licenseId);
  const isCurrent = lines.some(({ line }) => isOfLine(entry, line));
  return isIssuedKey(entry.lineKey) && isOfLicense && !isCurrent;
}

/** Whether a line changes a license to another product, and was not refunded. */
function isUpgrade({ draft, line }: SoldLine, base: string | null): boolean {
  if (line.renews !== true || base === null || draft.product === null) return false;
  return draft.product.id !== base && (draft.refundedAt ?? draft.disputedAt) === null;
}

/** Returns the product that a license was sold, issued or imported as; null: unknown. */
function findBaseProduct(lines: readonly SoldLine[]): string | null {
  const own = lines.find(({ line }) => line.renews !== true)?.draft.product?.id;
  const sales = lines.flatMap(({ baseSale, line }) => [
    ...(baseSale === undefined ? [] : [baseSale]),
    ...(line.sales ?? []),
  ]);
  return own ?? sales.find(({ priceId }) => priceId === '')?.productId ?? null;
}

/**
 * Selects the license whose updates a buyer renews: the only one of the product that the customer bought at the provider, else
 * the only one with the address.
 * @returns null if there is none, or if there are several
 */
export function selectRenewable(
  found: readonly {
    readonly licenseId: string;
    readonly customerEmail: string | null;
    readonly isBought: boolean;
  }[],
  email: string | null,
): string | null {
  const bought = found.filter(({ isBought }) => isBought);
  const named = found.filter(
    ({ customerEmail }) => email !== null && customerEmail?.toLowerCase() === email.toLowerCase(),
  );
  const [only, ...others] = bought.length > 0 ? bought : named;
  return only === undefined || others.length > 0 ? null : only.licenseId;
}

/** Lists the customers of purchases that sell or renew updates: either may arrive first. */
export function listRenewingCustomers(
  purchases: readonly Purchase[],
  catalog: Pick<SoldCatalog, 'findPrice' | 'findUpdatesPrice'>,
): { readonly provider: string; readonly customerId: string }[] {
  return purchases.flatMap(({ facts: { provider, payments } }) =>
    payments.flatMap(({ customerId, lines }) => {
      const isConcerned = lines.some(
        ({ priceId }) =>
          (catalog.findUpdatesPrice?.(provider, priceId) ?? null) !== null ||
          (catalog.findPrice(provider, priceId)?.updatesDays ?? null) !== null,
      );
      return customerId !== null && isConcerned ? [{ provider, customerId }] : [];
    }),
  );
}

const NO_LICENSE = `${ATTENTION_PREFIX}it renews the updates of a license, and the buyer has none of the product, or several. Change the updates of the license that is meant (latchkey license updates), then dismiss the event; or correct the address of the license, then replay it.`;

const OTHER_PRODUCT = `${ATTENTION_PREFIX}it renews the updates of another product than that of the license that it names. Change the updates of the right license (latchkey license updates), and dismiss the event; or refund the payment at the provider.`;

const USELESS = `${ATTENTION_PREFIX}it renews the updates of a license that gets all updates, so it adds nothing. Refund the payment at the provider, or dismiss the event.`;

/**
 * Reports a payment for the updates of a license that gets all of them, such as after the refund of the upgrade to a product with
 * limited ones. An upgrade that came after the payment does not make it useless.
 * @param entries all of the license
 * @param sold with all lines of the license
 */
export function explainUseless(
  renewal: UpdatesRenewal,
  entries: readonly UpdatesEntry[],
  sold: readonly SoldLine[],
): PurchaseProblem[] {
  const { purchase, draft, updates, known } = renewal;
  const { provider } = purchase.facts;
  const { transactionId } = known ?? draft;
  const line = { provider, transactionId, lineKey: draft.lineKey };
  const own = entries.find((each) => isOfLine(each, { ...line, licenseId: each.licenseId }));
  if (own === undefined || updates.withdrawnAt !== null) return [];
  const { licenseId, paidAt } = own;
  const isLimited = entries.some((each) => each.licenseId === licenseId && each.kind !== 'renewal');
  const isLater = sold.some(
    (each) =>
      each.line.licenseId === licenseId &&
      each.line.renews === true &&
      each.draft.updates === null &&
      each.draft.soldAt > paidAt,
  );
  return isLimited || isLater ? [] : explainPayments(purchase, USELESS);
}

/** Reports each payment for updates of a license that is not known, or that is named and cannot be renewed. */
export function explainRenewal({ purchase, named }: UpdatesRenewal): PurchaseProblem[] {
  return explainPayments(purchase, named?.problem ?? (named === null ? NO_LICENSE : OTHER_PRODUCT));
}

function explainPayments(purchase: Purchase, reason: string): PurchaseProblem[] {
  return purchase.facts.payments
    .filter(({ origin, total }) => origin !== 'other' && total !== 0)
    .map(({ eventId }) => ({ purchase, eventId, reason }));
}
