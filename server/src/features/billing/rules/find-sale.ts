import { isTestSource, providerOf } from '@latchkey/contract';

import type { Product } from '#server/config/catalog-model.ts';

import type { BillingProvider } from '../facts.ts';
import {
  nameSubscription,
  type CountParts,
  type EarlierLicenses,
  type FindProduct,
  type LicenseDraft,
  type LineContext,
  type SoldProduct,
} from './compute-licenses.ts';
import { findBuyer, type Purchase } from './group-purchases.ts';
import { findPlace } from './list-units.ts';
import type { UpdatesEntry } from '../../licenses/rules/updates-until.ts';
import type { AdoptableLicense, BilledLine, SoldCatalog } from './plan-licenses.ts';

/** What was sold under a price of a license. */
export interface Sale {
  /** Followed by its transaction if the purchase renews a license. Empty: whatever price the license had before prices were recorded, or elsewhere. */
  readonly priceId: string;
  readonly productId: string;
  /** For a quantity of 1; without a price, of all; null: as in the catalogue. */
  readonly machines: number | null;
  /** Whether each unit of the quantity was a license. Absent: they multiply the machines. */
  readonly quantityAs?: 'keys';
  /** Null: perpetual, or as long as its subscription is paid. */
  readonly durationDays: number | null;
  /** Days of updates. Absent or null: all. */
  readonly updatesDays?: number | null;
  /** Whether a one-time license ends at `endsAt`, whatever its term is. */
  readonly hasFixedEnd: boolean;
  readonly endsAt: Date | null;
}

/** The license of a line. */
interface FoundLine {
  /** Null: none exists. */
  readonly line: BilledLine | null;
  /** Null: the license has its line already. */
  readonly adopted: AdoptableLicense | null;
}

/** Finds what the lines of a purchase sell, and their licenses. */
export interface SaleFinder extends EarlierLicenses {
  readonly findProduct: FindProduct;
  readonly countParts: CountParts;
  readonly findLine: (
    line: Pick<LicenseDraft, 'lineKey' | 'transactionId'> & Partial<Pick<LineContext, 'priceIds'>>,
  ) => FoundLine;
}

/** A license of a wanted product, or else one that the purchase names. */
function selectAdopted(
  open: readonly AdoptableLicense[],
  wanted: ReadonlySet<string | undefined>,
): AdoptableLicense | undefined {
  return (
    open.find(({ productId }) => wanted.has(productId)) ??
    open.find(({ kind }) => kind !== 'renewal')
  );
}

/**
 * Finds what was sold: by the sale of a license, else by the catalogue. A line without a license adopts one from elsewhere
 * that has a name of the purchase; also if it received a second license before that one was known.
 * @param renewals the lines of the purchase that renew updates already
 */
export function createSaleFinder(
  purchase: Purchase,
  lines: readonly BilledLine[],
  catalog: SoldCatalog,
  adoptable: readonly AdoptableLicense[],
  renewals: readonly UpdatesEntry[] = [],
): SaleFinder {
  const { provider } = purchase.facts;
  const found = new Map<string, FoundLine>();
  const candidates = listCandidates(purchase, adoptable);
  const isStartKnown = purchase.facts.payments.some(({ origin }) => origin === 'purchase');
  const findLine: SaleFinder['findLine'] = ({ lineKey, transactionId, priceIds = [] }) => {
    const known = found.get(lineKey);
    if (known !== undefined) return known;
    const line = findOwnLine(lines, lineKey, transactionId);
    const taken = new Set([...found.values()].map((each) => each.adopted?.licenseId));
    const open = candidates.filter(
      (each) =>
        !taken.has(each.licenseId) &&
        isForLine(each, lineKey) &&
        (line === null || each.kind !== 'renewal' || each.licenseId < line.licenseId),
    );
    const wanted = [...priceIds].map((priceId) => catalog.findPrice(provider, priceId)?.id);
    const adopted = selectAdopted(open, new Set(wanted));
    const result =
      adopted === undefined
        ? { line, adopted: null }
        : { line: { provider, transactionId, lineKey, licenseId: adopted.licenseId }, adopted };
    found.set(lineKey, result);
    return result;
  };
  const findLicensed = (priceId: string, context?: LineContext): SoldProduct | null => {
    const product = findOnSale(catalog, provider, priceId, context?.part ?? 0);
    if (context === undefined) return product;
    const ofLine = findLine(context);
    const { line } = ofLine;
    const sales = listSales(lines, context.lineKey, ofLine);
    const own = sales.find((sale) => sale.priceId === nameSale(priceId, line));
    if (own !== undefined) return toSold(own, own.machines, catalog);
    if (line?.renews === true) return product;
    const earlier = sales.find((sale) => sale.priceId === '');
    if (earlier === undefined) return product;
    const isSame = product === null || product.id === earlier.productId;
    const isOnly = isStartKnown
      ? context.priceIds.size === 1
      : !isOnSale(catalog, provider, earlier);
    if (!isSame && !isOnly) return product;
    return toSold(earlier, divide(earlier, context.quantities, product), catalog);
  };
  const findProduct: FindProduct = (priceId, context) =>
    findRenewal(provider, catalog, renewals, priceId, context) ?? findLicensed(priceId, context);
  const countParts: CountParts = (priceId, { lineKey }) => {
    const sold = lines.filter((line) =>
      line.sales?.some((sale) => sale.priceId === nameSale(priceId, line)),
    );
    const bundled = catalog.listBundled?.(provider, priceId) ?? [];
    // The first products may have no license, because they could not renew one.
    const places = sold.map((line) => findPlace(line.lineKey, lineKey) ?? -1);
    const parts = Math.max(-1, ...places) + 1;
    return parts > 0 ? parts : Math.max(1, bundled.length);
  };
  const findEnd = (context: LineContext): Date | null => {
    const { line, adopted } = findLine(context);
    if (adopted !== null) return adopted.expiresAt;
    return line?.sales?.find(({ priceId }) => priceId === '')?.endsAt ?? null;
  };
  const isNamed = candidates.some(({ kind }) => kind === 'subscription') || lines.length > 0;
  return { findProduct, countParts, findLine, findEnd, isNamed };
}

/** Lists what a line was sold as. Its first key may have no license: then what the others were sold as. */
function listSales(
  lines: readonly BilledLine[],
  lineKey: string,
  { line, adopted }: FoundLine,
): readonly Sale[] {
  if (adopted !== null) return [toSale(adopted)];
  const sold = line ?? lines.find((each) => each.lineKey.startsWith(`${lineKey}#`));
  return sold?.sales ?? [];
}

/** Whether a product has a price: a license from elsewhere whose subscription has another product's price was changed there. */
function isOnSale(
  { products }: SoldCatalog,
  provider: BillingProvider,
  { productId }: Sale,
): boolean {
  return (products.get(productId)?.prices[providerOf(provider)] ?? []).length > 0;
}

/** Finds the product that a price sells now. @param part its place in a bundle */
function findOnSale(
  { findPrice, listBundled, products }: SoldCatalog,
  provider: BillingProvider,
  priceId: string,
  part: number,
): Product | null {
  const bundled = listBundled?.(provider, priceId) ?? [];
  if (bundled.length === 0) return part === 0 ? findPrice(provider, priceId) : null;
  return products.get(bundled[part] ?? '') ?? null;
}

/** Finds what a price of updates sells: as applied before, whatever the catalogue has now, else as in the catalogue. */
function findRenewal(
  provider: Purchase['facts']['provider'],
  catalog: SoldCatalog,
  renewals: readonly UpdatesEntry[],
  priceId: string,
  context: LineContext | undefined,
): SoldProduct | null {
  const product = catalog.findUpdatesPrice?.(provider, priceId) ?? null;
  const known = renewals.find(({ lineKey }) => lineKey === context?.lineKey);
  if (product === null && known === undefined) return null;
  return {
    id: product?.id ?? '',
    tier: null,
    features: null,
    maxActivations: 1,
    durationDays: null,
    updatesDays: known === undefined ? (product?.updatesDays ?? null) : known.days,
    givesUpdates: true,
  };
}

function findOwnLine(
  lines: readonly BilledLine[],
  lineKey: string,
  transactionId: string,
): BilledLine | null {
  const ofLine = lines.filter((line) => line.lineKey === lineKey);
  return ofLine.find((line) => line.transactionId === transactionId) ?? ofLine[0] ?? null;
}

/** A name decides; a period that follows the end of the license does so only if a single license fits. */
function listCandidates(
  purchase: Purchase,
  adoptable: readonly AdoptableLicense[],
): AdoptableLicense[] {
  if (adoptable.length === 0) return [];
  const { provider } = purchase.facts;
  const names = new Set(listNames(purchase).map(({ kind, name }) => `${kind} ${name}`));
  const { email } = findBuyer(purchase).customer;
  const own = adoptable.filter(
    (each) => each.provider === provider && names.has(`${each.kind} ${each.name}`),
  );
  const named = own.filter(({ kind }) => kind !== 'renewal');
  if (named.length > 0) return named;
  const fitting = own.filter(
    ({ customerEmail }) =>
      email === null ||
      customerEmail === null ||
      email.toLowerCase() === customerEmail.toLowerCase(),
  );
  return fitting.length === 1 ? fitting : [];
}

/** Lists the real purchases that have no license under their checkout yet, and may adopt one. */
export function listOpenPurchases(
  purchases: readonly Purchase[],
  lines: readonly BilledLine[],
): Purchase[] {
  const known = new Set(lines.map(({ provider, transactionId }) => `${provider} ${transactionId}`));
  return purchases.filter(({ facts: { provider, payments, snapshots } }) => {
    const checkouts = payments.filter(({ origin }) => origin === 'purchase');
    const ids = [...checkouts, ...snapshots].map(({ transactionId }) => transactionId);
    // A license that was adopted before any payment was known.
    ids.push(...snapshots.slice(0, 1).map((each) => nameSubscription(each.subscriptionId)));
    return (
      !isTestSource(provider) && !ids.some((id) => id !== null && known.has(`${provider} ${id}`))
    );
  });
}

/** A name of a purchase by which a license from elsewhere may be known. */
export interface PurchaseName {
  readonly provider: string;
  readonly kind: AdoptableLicense['kind'];
  readonly name: string;
}

/** Lists the names of a purchase: its transactions and subscriptions, and when its oldest known period began. */
export function listNames({ facts }: Purchase): PurchaseName[] {
  const { provider, payments, snapshots } = facts;
  const transactions = [
    ...payments.flatMap(({ transactionId, aliases = [], checkoutId }) => [
      transactionId,
      ...aliases,
      checkoutId ?? null,
    ]),
    ...snapshots.map(({ transactionId }) => transactionId),
  ];
  const subscriptions = [...payments, ...snapshots].map(({ subscriptionId }) => subscriptionId);
  const isOld = payments.every(({ origin }) => origin !== 'purchase');
  const starts = payments.flatMap(({ period }) => (period === null ? [] : [period.startsAt]));
  const oldest = starts.toSorted((a, b) => a.getTime() - b.getTime())[0];
  const toNames = (kind: PurchaseName['kind'], ids: readonly (string | null)[]): PurchaseName[] =>
    [...new Set(ids)].flatMap((name) => (name === null ? [] : [{ provider, kind, name }]));
  return [
    ...toNames('transaction', transactions),
    ...toNames('subscription', subscriptions),
    ...toNames('renewal', isOld && oldest !== undefined ? [oldest.toISOString()] : []),
  ];
}

/** A trial of a subscription from elsewhere has no grace period and is stored as a term, under the name of its subscription. */
function isForLine({ subscription, kind }: AdoptableLicense, lineKey: string): boolean {
  const isRecurring = subscription || kind === 'subscription';
  return lineKey.startsWith('recurring:') === isRecurring;
}

/** What a license from elsewhere was sold as. */
export function toSale({ productId, maxActivations, expiresAt }: AdoptableLicense): Sale {
  return {
    priceId: '',
    productId,
    machines: maxActivations,
    durationDays: null,
    hasFixedEnd: true,
    endsAt: expiresAt,
  };
}

/**
 * Names what a line sold under a price of its license. A purchase that renews a license may have the price of an earlier one:
 * its transaction follows the price.
 */
export function nameSale(
  priceId: string,
  line: Pick<BilledLine, 'renews' | 'transactionId'> | null,
): string {
  return line?.renews === true ? `${priceId} ${line.transactionId}` : priceId;
}

/** Returns what a sale sold, with tier and features of today's catalogue. */
export function toSold(
  sale: Sale,
  machines: number | null,
  { products }: SoldCatalog,
): SoldProduct {
  const product = products.get(sale.productId);
  return {
    id: sale.productId,
    tier: product?.tier ?? null,
    features: product?.features ?? null,
    maxActivations: machines ?? product?.maxActivations ?? 1,
    ...(sale.quantityAs === undefined ? {} : { quantityAs: sale.quantityAs }),
    durationDays: sale.durationDays,
    updatesDays: sale.updatesDays ?? null,
    ...(sale.hasFixedEnd ? { endsAt: sale.endsAt } : {}),
  };
}

/** Divides the machines of a license by the quantity that it was sold with, which was not recorded. */
function divide(
  { machines }: Sale,
  quantities: readonly number[],
  product: SoldProduct | null,
): number | null {
  if (machines === null) return null;
  const perUnit = product?.maxActivations ?? 0;
  if (quantities.some((quantity) => quantity * perUnit === machines)) return perUnit;
  const quantity = quantities.findLast((each) => machines % each === 0);
  return quantity === undefined ? null : machines / quantity;
}
