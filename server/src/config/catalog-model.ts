import type { Language, PaymentProvider, PaymentSource } from '@latchkey/contract';

/** How long software may run offline, without a value in the catalogue. */
export const DEFAULT_OFFLINE_DAYS = 14;

/** How many machines beyond `max_activations` may be activated within a period, without a value in the catalogue. */
export const DEFAULT_EXTRA_MOVES = 3;

/** The period, without a value in the catalogue; `offline_days` if that is longer. */
export const DEFAULT_MOVE_DAYS = 30;

/** The products on sale, read from `catalog.yaml`. */
export interface Catalog {
  /** The prefix of new license keys. */
  readonly keyPrefix: string;
  readonly trial: CatalogTrial;
  readonly outreach: CatalogOutreach;
  readonly buyers: CatalogBuyers;
  /** By id, in the order of the file. */
  readonly products: ReadonlyMap<string, Product>;
  /** In the order of the file. */
  readonly bundles: readonly Bundle[];
  /** Returns the product that a payment provider's price buys, also in its test mode; of a bundle the first one, or null. */
  readonly findPrice: (source: PaymentSource, priceId: string) => Product | null;
  /** Returns the product for whose licenses a price buys updates, or null. */
  readonly findUpdatesPrice: (source: PaymentSource, priceId: string) => Product | null;
  /** Returns the ids of the products that a bundle's price buys; empty for the price of a single product. */
  readonly listBundled: (source: PaymentSource, priceId: string) => readonly string[];
}

/** The product and the features of a trial. */
export interface CatalogTrial {
  readonly productId: string;
  readonly features: readonly string[];
}

/** The links of the buyer's page. */
export interface CatalogBuyers {
  /** The pages of payment providers for cards and invoices. Null: no link. */
  readonly portals: Readonly<Record<PaymentProvider, string | null>>;
}

/** The product and its vendor in outreach messages. Null: omitted, unless noted otherwise. */
export interface CatalogOutreach {
  /** Default: the name of the trial's product. */
  readonly productName: string;
  /** The signature. Null: the sender's name of the mail. */
  readonly sender: string | null;
  /** The sender's address, which many countries require in advertising by law. */
  readonly postalAddress: string | null;
  /** Null: that of the mail's domain. */
  readonly website: string | null;
  /** Null: the website. */
  readonly links: Readonly<Record<OutreachLink, string | null>>;
  /** The purpose of the software, in a sentence. */
  readonly about: Readonly<Record<Language, string | null>>;
  /** The new version of the software. */
  readonly version: string | null;
  /** Changes of the new version, in a sentence each. */
  readonly highlights: Readonly<Record<Language, readonly string[]>>;
}

/** The pages that outreach messages link to. */
export type OutreachLink = 'download' | 'sellers' | 'tutorials' | 'news';

/** A product on sale. */
export interface Product {
  readonly id: string;
  readonly name: string;
  /** The `product_type` in the response to the check of a transaction. */
  readonly productType: string;
  readonly tier: string;
  readonly features: readonly string[];
  readonly maxActivations: number;
  /** The term of a license; null: perpetual, or as long as its subscription is paid. */
  readonly durationDays: number | null;
  /** Whether a license takes the next key of a pool. Absent: keys are generated. */
  readonly keysFrom?: 'pool';
  /** For how many days a license gets new versions after its payment. Absent: it gets all. */
  readonly updatesDays?: number;
  /** Whether a quantity of n is n licenses. Absent: one license for n times the machines. */
  readonly quantityAs?: 'keys';
  /** The number of days that a client may run without a validation. */
  readonly offlineDays: number;
  /** How long software may run on a machine without a connection, activated by a request; null: not offered. */
  readonly airgapDays: number | null;
  readonly moves: CatalogMoves;
  readonly compatible: CatalogCompatible;
  readonly prices: Readonly<Record<PaymentProvider, readonly string[]>>;
  /** The prices that renew the updates of a license of this product. Absent: none. */
  readonly updatesPrices?: Product['prices'];
  /** Where a buyer renews a license, as `fillProductLink` fills it. Absent: not offered. */
  readonly renewUrl?: string;
  /** Where a buyer exchanges a license for that of a larger product, as `fillProductLink` fills it. Absent: not offered. */
  readonly upgradeUrl?: string;
}

/** Products that are sold together: each purchase has a license for each of them. */
export interface Bundle {
  readonly productIds: readonly string[];
  readonly prices: Product['prices'];
}

/** How the license interfaces of other systems answer for a product; null: as if it had no licenses. */
export interface CatalogCompatible {
  /** The ids that the software compares with its own. */
  readonly lemonSqueezy: LemonSqueezyIds | null;
  /** The ids and permalinks under which the software asks. */
  readonly gumroad: { readonly products: readonly string[] } | null;
  /** Whether the answers contain the name and the address of the customer. */
  readonly showsCustomer: boolean;
}

/** The ids of a product at Lemon Squeezy. */
export interface LemonSqueezyIds {
  readonly storeId: number;
  readonly productId: number;
  readonly variantId: number;
}

/** How often the machines of a license may change. */
export interface CatalogMoves {
  /** How many machines beyond `maxActivations` may be activated within the period. */
  readonly extra: number;
  readonly days: number;
}
