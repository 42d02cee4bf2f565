import { UNKNOWN_LICENSE, type ForeignLicense } from '../../facts.ts';
import {
  pickDetails,
  readCount,
  readDate,
  readFlag,
  readText,
  RecordProblem,
  type SourceRecord,
} from '../read-values.ts';

/**
 * Sales of Gumroad, as its table "Sales" has them. Each charge of a subscription is a row, so that a license repeats, and the
 * last row has the totals.
 */
export const GUMROAD_COLUMNS = ['Purchase ID', 'Item Name', 'Purchase Email', 'License Key'];

/** A sale of a license. */
export interface GumroadSale {
  readonly purchaseId: string;
  readonly licenseKey: string;
  readonly soldAt: Date;
  readonly isRefunded: boolean;
  readonly isDisputed: boolean;
  readonly isFreeTrial: boolean;
  /** In months; null for a single payment. */
  readonly months: number | null;
  /** When the subscription ended or will end. */
  readonly endsAt: Date | null;
  readonly license: ForeignLicense;
}

const MONTHS: Readonly<Record<string, number>> = {
  monthly: 1,
  quarterly: 3,
  biannually: 6,
  yearly: 12,
  every_two_years: 24,
};

const DETAILS: Readonly<Record<string, string>> = {
  'Product ID': 'permalink',
  'Item Name': 'product_name',
  'Order Number': 'order_number',
  Variants: 'variants',
  Recurrence: 'recurrence',
  'License Key Activation Count': 'uses',
};

/** Reads a row; a text is why it is left out, and null is the row of totals. @throws RecordProblem */
export function readSale(record: SourceRecord): GumroadSale | string | null {
  const purchaseId = readText(record, 'Purchase ID');
  if (purchaseId === 'Totals') return null;
  const licenseKey = readText(record, 'License Key');
  if (purchaseId === null) throw new RecordProblem('The Purchase ID is empty.');
  if (licenseKey === null) return 'The sale has no license key.';
  if (readFlag(record, 'Pre-order authorization?')) return 'The pre-order was not charged yet.';
  const recurrence = readText(record, 'Recurrence');
  const soldAt = readDate(record, 'Purchase Time (UTC timezone)', 'Purchase Date');
  if (soldAt === null) throw new RecordProblem('The Purchase Date is empty.');
  return {
    purchaseId,
    licenseKey,
    soldAt,
    isRefunded: readFlag(record, 'Fully Refunded?'),
    isDisputed: readFlag(record, 'Disputed?') && !readFlag(record, 'Dispute Won?'),
    isFreeTrial: readFlag(record, 'Free trial purchase?'),
    months: recurrence === null ? null : readMonths(recurrence),
    endsAt: readDate(record, 'Subscription End Date'),
    license: toLicense(record, purchaseId, licenseKey),
  };
}

function readMonths(recurrence: string): number {
  const months = MONTHS[recurrence];
  if (months !== undefined) return months;
  throw new RecordProblem(`The Recurrence ${JSON.stringify(recurrence)} is not known.`);
}

function toLicense(record: SourceRecord, purchaseId: string, licenseKey: string): ForeignLicense {
  const isEnabled = readText(record, 'License Key Enabled?') !== '0';
  const isRevoked = readText(record, 'Access Revoked?') === '1';
  const details = Object.entries(pickDetails(record, Object.keys(DETAILS)));
  return {
    ...UNKNOWN_LICENSE,
    sourceId: purchaseId,
    licenseKey,
    customerEmail: readText(record, 'Giftee Email', 'Purchase Email', 'Buyer Email'),
    customerName: readText(record, 'Giftee Email') === null ? readText(record, 'Buyer Name') : null,
    products: listProducts(record),
    quantity: readCount(record, 'Quantity') ?? 1,
    expiresAt: null,
    provider: 'gumroad',
    transactionId: purchaseId,
    status: isRevoked ? 'revoked' : isEnabled ? 'active' : 'suspended',
    details: Object.fromEntries(details.map(([name, value]) => [DETAILS[name] ?? name, value])),
  };
}

/** The product with its variants, and the product. */
function listProducts(record: SourceRecord) {
  const name = readText(record, 'Item Name');
  const id = readText(record, 'Product ID') ?? name;
  const variants = readText(record, 'Variants');
  if (id === null) return [];
  const product = { id, name };
  return variants === null
    ? [product]
    : [{ id: `${id} ${variants}`, name: `${name ?? id} ${variants}` }, product];
}

/**
 * Merges the sales of a license key. The first one is its purchase. A subscription is paid for one recurrence from its newest
 * charge that was not paid back, and ends earlier or later if the table says when.
 */
export function mergeSales(sales: readonly GumroadSale[]): ForeignLicense {
  const sorted = sales.toSorted((a, b) => a.soldAt.getTime() - b.soldAt.getTime());
  const [first] = sorted;
  const newest = sorted.at(-1);
  if (first === undefined || newest === undefined) throw new Error('a license has no sale');
  const kept = sorted.filter(({ isRefunded, isDisputed }) => !isRefunded && !isDisputed);
  const { status } = newest.license;
  const lost = first.isDisputed || newest.isDisputed ? 'disputed' : 'refunded';
  return {
    ...newest.license,
    sourceId: first.purchaseId,
    transactionId: first.purchaseId,
    createdAt: first.soldAt,
    status: status === 'active' && kept.length === 0 ? lost : status,
    ...(newest.months === null ? {} : readPeriod(newest, kept)),
  };
}

function readPeriod({ endsAt }: GumroadSale, kept: readonly GumroadSale[]) {
  const charge = kept.at(-1);
  const isOnlyTrial = kept.every(({ isFreeTrial }) => isFreeTrial) && kept.length === 1;
  const paidUntil =
    charge === undefined || isOnlyTrial ? null : addMonths(charge.soldAt, charge.months ?? 1);
  return {
    isSubscription: true,
    expiresAt: endsAt ?? paidUntil ?? ('unknown' as const),
    cancelScheduledFor: endsAt,
  };
}

/** Adds months; the last day of a shorter month replaces a day that it does not have. */
export function addMonths(date: Date, months: number): Date {
  const moved = new Date(date);
  moved.setUTCMonth(moved.getUTCMonth() + months);
  if (moved.getUTCDate() !== date.getUTCDate()) moved.setUTCDate(0);
  return moved;
}
