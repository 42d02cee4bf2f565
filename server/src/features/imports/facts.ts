/** A license or a subscription of another system, as every source of an import yields it. */
import type { PaymentProvider } from '@latchkey/contract';

/** The systems that licenses are imported from. */
const IMPORT_SOURCES = [
  'keygen',
  'cryptlex',
  'lemonsqueezy',
  'gumroad',
  'paddle-classic',
  'edd',
  'woocommerce',
  'csv',
  'stripe',
  'paddle',
  'polar',
  'fastspring',
] as const;

export type ImportSource = (typeof IMPORT_SOURCES)[number];

export type ForeignStatus =
  | 'active'
  | 'suspended'
  | 'revoked'
  | 'refunded'
  | 'disputed'
  | 'canceled'
  | 'paused';

/** A product, a variant or a plan of another system. */
export interface ForeignProduct {
  /** An id, or the name where the source has no ids. */
  readonly id: string;
  /** For the report; null: unknown. */
  readonly name: string | null;
}

/** A price at a payment provider. */
export interface ForeignPrice {
  readonly provider: PaymentProvider;
  readonly priceId: string;
}

/** A device on which a license was activated in the other system. */
export interface ForeignDevice {
  /** The id of the device or of its activation there; programs that call the other system's interface send it. */
  readonly id: string;
  /** Its name there. */
  readonly label: string | null;
  readonly lastSeenAt: Date | null;
}

/** A license or a subscription of another system. */
export interface ForeignLicense {
  /** Its permanent id in the source. Null: the source has none; the license is then known by its key. */
  readonly sourceId: string | null;
  /** The key exactly as the customer has it. Null: a new key is generated. */
  readonly licenseKey: string | null;
  readonly customerEmail: string | null;
  readonly customerName: string | null;
  /** What was bought there, most specific first, such as the variant before the product. The first mapped one counts. */
  readonly products: readonly ForeignProduct[];
  /** The prices that a catalogue may name: they need no mapping. The first known one counts. */
  readonly prices: readonly ForeignPrice[];
  /** Null: those of the product for each unit of `quantity`. */
  readonly maxActivations: number | 'unlimited' | null;
  /** A whole number from 1. */
  readonly quantity: number;
  /**
   * Null: perpetual. `unknown`: the source does not say; the term of the product from `createdAt` applies, and a subscription
   * is paid for 31 days from now.
   */
  readonly expiresAt: Date | null | 'unknown';
  /** The end of updates. Null: all. `unknown`: the days of updates of the product from `createdAt` apply. */
  readonly updatesUntil: Date | null | 'unknown';
  /** Has a grace period after its end. */
  readonly isSubscription: boolean;
  /** When a subscription that is paid until `expiresAt` ends by the customer's wish. */
  readonly cancelScheduledFor: Date | null;
  /** The payment provider whose later events adopt the license by one of these ids. Null: any provider. */
  readonly provider: PaymentProvider | null;
  readonly transactionId: string | null;
  readonly subscriptionId: string | null;
  readonly status: ForeignStatus;
  /** Since when it has the status. Null: unknown. */
  readonly statusSince: Date | null;
  /** Whether it was created in a test mode; it is not imported. */
  readonly isTest: boolean;
  readonly devices: readonly ForeignDevice[];
  /** How many devices used it, if that is more than are known. */
  readonly usedSeats: number;
  readonly note: string | null;
  readonly createdAt: Date | null;
  /** Further ids that the license interface of the source returns, such as `store_id` and `order_id`. */
  readonly details: Readonly<Record<string, string>>;
}

/**
 * A row of a source: a license, why it cannot be read, or why it is left out on purpose. Reasons are sentences without keys
 * and addresses.
 */
export type ForeignRow = {
  /** The line of the file or the number of the record, counted from 1. */
  readonly line: number;
} & (
  | { readonly license: ForeignLicense }
  | { readonly problem: string }
  | { readonly skipped: string }
);

/** A license that was imported before. */
export interface KnownLicense {
  readonly sourceId: string;
  readonly licenseId: string;
  readonly digest: string;
  /** Its end as it was imported; null is perpetual. */
  readonly expiresAt: Date | null;
  /** Whether payments here decide when it ends. */
  readonly isPaid: boolean;
}

/** The values of a license about which its source says nothing. */
export const UNKNOWN_LICENSE: ForeignLicense = {
  sourceId: null,
  licenseKey: null,
  customerEmail: null,
  customerName: null,
  products: [],
  prices: [],
  maxActivations: null,
  quantity: 1,
  expiresAt: 'unknown',
  updatesUntil: 'unknown',
  isSubscription: false,
  cancelScheduledFor: null,
  provider: null,
  transactionId: null,
  subscriptionId: null,
  status: 'active',
  statusSince: null,
  isTest: false,
  devices: [],
  usedSeats: 0,
  note: null,
  createdAt: null,
  details: {},
};
